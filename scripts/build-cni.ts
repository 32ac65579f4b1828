/**
 *     npm run build:cni            dist/contiv-cni
 *     npm run build:cni -- FILE    another path
 *
 * Builds contiv-cni as a single executable for the architecture of this machine. The host needs only
 * glibc and libstdc++.
 */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildExecutable } from './lib/single-executable.ts';

const root = join(import.meta.dirname, '..');
const target = resolve(process.argv[2] ?? join(root, 'dist/contiv-cni'));
await buildExecutable(join(root, 'src/cmd/cni/main.ts'), target);
console.log(`${target}: ${Math.round(statSync(target).size / 1e6)} MB`);
