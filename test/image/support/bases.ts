/** Root file systems that stand for the images with which ours begin; scripts/image-bases.ts makes them. */
import { cpSync, existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { baseFolder, distributionNames } from '../../../scripts/lib/image-bases.ts';
import { findProgram, type SkipReason, withoutRoot } from '../../support/requirements.ts';
import type { Overlays } from './overlay.ts';

export function withoutBases(): SkipReason {
  const missing = distributionNames.map(baseFolder).find((folder) => !existsSync(folder));
  return (
    withoutRoot() ||
    (missing !== undefined && `needs ${missing}: make it with \`npm run image:bases\``)
  );
}

/**
 * @param image such as `ubuntu:24.04`
 * @returns folders of its layers, uppermost first
 * @throws Error for an image that nothing stands for
 */
export async function baseImage(image: string, overlays: Overlays): Promise<readonly string[]> {
  if (image === 'ubuntu:24.04') return [baseFolder('noble')];
  if (/^node:[\d.]+-bookworm-slim$/.test(image)) {
    const { layer } = await overlays.layer('node', [baseFolder('bookworm')], addNode);
    return [layer.files, ...layer.below];
  }
  throw new Error(`no root file system stands for ${image}`);
}

/** Puts the Node.js of this repository, and npm, where the image of Node.js has them. */
function addNode(root: string): void {
  const local = join(root, 'usr/local');
  const node = dirname(
    createRequire(import.meta.url).resolve(`node-linux-${process.arch}/package.json`),
  );
  for (const folder of ['bin', 'include'])
    cpSync(join(node, folder), join(local, folder), { recursive: true });
  const npm = findProgram('npm');
  if (npm === undefined) throw new Error('npm is missing');
  mkdirSync(join(local, 'lib/node_modules'), { recursive: true });
  // the program is bin/npm-cli.js of the package
  cpSync(dirname(dirname(realpathSync(npm))), join(local, 'lib/node_modules/npm'), {
    recursive: true,
  });
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name));
}
