/**
 *     npm run build:cni            dist/contiv-cni
 *     npm run build:cni -- FILE    another path
 *
 * Compiles contiv-cni for the architecture of this machine. Needs gcc and the C library (libc6-dev); the
 * executable needs no library.
 */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildContivCni } from './lib/contiv-cni.ts';

const root = join(import.meta.dirname, '..');
const target = resolve(process.argv[2] ?? join(root, 'dist/contiv-cni'));
buildContivCni(target);
console.log(`${target}: ${Math.round(statSync(target).size / 1e3)} kB`);
