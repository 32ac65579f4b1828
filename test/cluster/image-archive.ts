/** An image as the archive that `docker save` writes and `ctr images import` reads, with one layer. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  createReadStream,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Image } from '../image/support/image-build.ts';

/** Mounted by a container's runtime. */
const EXCLUDED = ['./dev/*', './proc/*', './sys/*'];

/** @param names with tags, of one image */
export async function writeImageArchive(
  image: Image,
  names: readonly string[],
  file: string,
): Promise<void> {
  const folder = mkdtempSync(`${file}-`);
  try {
    mkdirSync(join(folder, 'layer'));
    const layer = join(folder, 'layer/layer.tar');
    const excluded = EXCLUDED.map((path) => `--exclude=${path}`);
    execFileSync('tar', ['-C', image.root, '--numeric-owner', ...excluded, '-cf', layer, '.']);
    const hash = createHash('sha256');
    await pipeline(createReadStream(layer), hash);
    const config = JSON.stringify({
      architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
      os: 'linux',
      config: {
        Env: Object.entries(image.env).map(([name, value]) => `${name}=${value}`),
        WorkingDir: image.workdir,
        Entrypoint: image.entrypoint,
        Cmd: image.cmd,
        Labels: image.labels,
      },
      rootfs: { type: 'layers', diff_ids: [`sha256:${hash.digest('hex')}`] },
    });
    writeFileSync(join(folder, 'config.json'), config);
    const manifest = [{ Config: 'config.json', RepoTags: names, Layers: ['layer/layer.tar'] }];
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
    execFileSync('tar', [
      '-C',
      folder,
      '-cf',
      `${file}.new`,
      'manifest.json',
      'config.json',
      'layer',
    ]);
    renameSync(`${file}.new`, file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
