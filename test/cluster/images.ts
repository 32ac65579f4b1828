/**
 * The stage `images`: those of this tree, from its Dockerfile, and those that the tests of Kubernetes
 * start, from images/Dockerfile. No container engine and no registry: as in test/image.
 */

import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { findProgram } from '#test/support/requirements.ts';
import { baseFolder, makeBase } from '../../scripts/lib/image-bases.ts';
import { baseImage } from '../image/support/bases.ts';
import { writeFdioRepository } from '../image/support/fdio-repository.ts';
import { type BuildOptions, ImageBuild } from '../image/support/image-build.ts';
import { Overlays } from '../image/support/overlay.ts';
import { folderOf } from './folder.ts';
import { type GoProgramName, programPath, publishedModule } from './go-programs.ts';
import { writeImageArchive } from './image-archive.ts';
import { writeImageTrees } from './trees.ts';

const repository = resolve(import.meta.dirname, '../..');
const dockerfile = join(import.meta.dirname, 'images/Dockerfile');
const FDIO = 'https://packagecloud.io/fdio/release';

/** Tag in the manifest. */
export const OWN_TAG = '0.1.0';

/** Of this tree, by target of its Dockerfile. */
const ownImages = (tag: string): Record<'vswitch' | 'vpp', readonly string[]> => ({
  vswitch: [`docker.io/library/contiv-vswitch:${tag}`],
  vpp: [`docker.io/library/contiv-vswitch-vpp:${tag}`],
});

const e2e = (name: string): string => `registry.k8s.io/e2e-test-images/${name}`;

/** Of images/Dockerfile, with the names that tests of Kubernetes 1.34 and our manifests expect. */
const testImages = {
  pause: ['registry.k8s.io/pause:3.10.1'],
  busybox: [e2e('busybox:1.37.0-1'), e2e('busybox:1.36.1-1')],
  agnhost: [
    e2e('agnhost:2.56'),
    e2e('agnhost:2.53'),
    e2e('agnhost:2.45'),
    e2e('agnhost:2.43'),
    e2e('agnhost:2.40'),
  ],
  dnsutils: [e2e('jessie-dnsutils:1.7'), 'registry.k8s.io/build-image/distroless-iptables:v0.7.14'],
  etcd: ['quay.io/coreos/etcd:v3.5.21'],
  coredns: ['registry.k8s.io/coredns/coredns:v1.12.4'],
  'reset-server': [e2e('regression-issue-74839:1.2')],
  cyclonus: ['docker.io/mfenwick100/cyclonus-worker:latest'],
};

/** Programs that images/Dockerfile copies. */
const contextPrograms: readonly GoProgramName[] = [
  'agnhost',
  'coredns',
  'etcd',
  'reset-server',
  'cyclonus-worker',
];

export const imageArchive = (name: string): string => join(folderOf('images'), `${name}.tar`);

export const imageArchives = (): string[] =>
  [...Object.keys(testImages), ...Object.keys(ownImages(OWN_TAG))].map(imageArchive);

/** Builds the images of the tests unless they are there, of the same parts, and those of this tree each time. */
export async function buildImages(print: (line: string) => void): Promise<void> {
  const parts = testImageParts();
  const file = join(folderOf('images'), 'parts.json');
  const isBuilt = Object.keys(testImages).every((name) => existsSync(imageArchive(name)));
  if (!isBuilt || !existsSync(file) || readFileSync(file, 'utf8') !== parts) {
    const context = testContext();
    // None of these images needs FD.io's repository: any folder can replace it.
    await build(testImages, print, context, context);
    writeFileSync(file, parts);
  }
  await buildOwnImages(print);
}

/** Of what the images of the tests are made, but for the packages of Debian. */
function testImageParts(): string {
  const programs = contextPrograms.map((name) => [name, builtAt(name)]);
  return JSON.stringify([testImages, readFileSync(dockerfile, 'utf8'), programs]);
}

export async function buildOwnImages(print: (line: string) => void): Promise<void> {
  await withFdioPackages((packages) => build(ownImages(OWN_TAG), print, repository, packages));
  writeImageTrees();
}

/** Builds the image of the agent of another checkout. @returns its archive */
export async function buildAgentImage(
  print: (line: string) => void,
  checkout: string,
  tag: string,
): Promise<string> {
  const { vswitch } = ownImages(tag);
  const archive = imageArchive(`vswitch-${tag}`);
  await withFdioPackages((packages) =>
    build({ vswitch }, print, checkout, packages, () => archive),
  );
  return archive;
}

async function withFdioPackages(use: (folder: string) => Promise<void>): Promise<void> {
  const packages = mkdtempSync(join(folderOf('images'), 'fdio-'));
  try {
    writeFdioRepository(packages);
    await use(packages);
  } finally {
    rmSync(packages, { recursive: true, force: true });
  }
}

async function build(
  images: Readonly<Record<string, readonly string[]>>,
  print: (line: string) => void,
  context: string,
  packages: string,
  archiveOf = imageArchive,
): Promise<void> {
  for (const name of ['bookworm', 'noble'] as const)
    if (!existsSync(baseFolder(name))) makeBase(name);
  const folder = mkdtempSync(join(folderOf('images'), 'build-'));
  const overlays = new Overlays(folder);
  const options: BuildOptions = {
    context,
    args: {},
    mirror: { address: FDIO, folder: packages },
    kept: ['packages'],
    baseImage: (image) => base(image, overlays, folder),
    overlays,
    log: join(folderOf('images'), 'build.log'),
  };
  try {
    const build = new ImageBuild(options);
    for (const [target, names] of Object.entries(images)) {
      const before = performance.now();
      await writeImageArchive(await build.image(target), names, archiveOf(target));
      print(`${target}: image in ${Math.round((performance.now() - before) / 1000)} s`);
    }
  } finally {
    overlays.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function base(image: string, overlays: Overlays, folder: string): Promise<readonly string[]> {
  if (image === 'debian:bookworm-slim') return [baseFolder('bookworm')];
  if (image !== 'scratch') return await baseImage(image, overlays);
  // RUN mounts folders into it.
  const empty = join(folder, 'scratch');
  for (const name of ['dev', 'etc', 'proc', 'run', 'sys'])
    mkdirSync(join(empty, name), { recursive: true });
  writeFileSync(join(empty, 'etc/resolv.conf'), '');
  return [empty];
}

function builtAt(name: GoProgramName): number {
  const stats = statSync(programPath(name), { throwIfNoEntry: false });
  if (stats === undefined) throw new Error(toBuild(name));
  return stats.mtimeMs;
}

const toBuild = (name: GoProgramName): string =>
  `needs ${programPath(name)}: make it with \`npm run test:kubernetes -- programs\``;

/** A reason to skip a suite. */
export function withoutImagePrograms(): string | false {
  const missing = contextPrograms.find((name) => !existsSync(programPath(name)));
  return missing === undefined ? false : toBuild(missing);
}

/** @returns a folder with images/Dockerfile and what it copies */
function testContext(): string {
  const context = folderOf('images', 'context');
  rmSync(context, { recursive: true });
  mkdirSync(context);
  copyFileSync(dockerfile, join(context, 'Dockerfile'));
  for (const name of contextPrograms) linkSync(programPath(name), join(context, name));
  copyFileSync(findProgram('busybox')!, join(context, 'busybox'));
  writeFileSync(join(context, 'passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  // The certificate with which agnhost serves TLS is beside its source.
  const porter = join(publishedModule('kubernetes'), 'test/images/agnhost/porter');
  const certificate = ['localhost.crt', 'localhost.key'];
  for (const name of certificate) copyFileSync(join(porter, name), join(context, name));
  const copied = [...contextPrograms, 'busybox', 'passwd', ...certificate];
  writeFileSync(
    join(context, '.dockerignore'),
    `*\n${copied.map((name) => `!${name}\n`).join('')}`,
  );
  return context;
}
