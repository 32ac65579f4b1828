/** Root file systems of distributions, made by debootstrap and kept in the user's cache folder. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const cacheFolder = join(
  process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
  'contiv-vswitch/images',
);

/** Packages that the builds of the images fetch. */
export const packageCache = join(cacheFolder, 'packages');

const distributions = {
  bookworm: { mirror: 'http://deb.debian.org/debian', script: [], options: [] },
  noble: {
    mirror: 'https://archive.ubuntu.com/ubuntu',
    // Of all releases of Ubuntu.
    script: ['gutsy'],
    // Debian has no package with Ubuntu's keys: TLS identifies the mirror.
    options: ['--no-check-gpg'],
  },
} as const;

export type Distribution = keyof typeof distributions;

export const distributionNames = Object.keys(distributions) as Distribution[];

export const baseFolder = (name: Distribution): string => join(cacheFolder, name);

/** @throws Error when debootstrap fails; its messages are printed */
export function makeBase(name: Distribution): void {
  const { mirror, script, options } = distributions[name];
  const folder = baseFolder(name);
  const aside = `${folder}.new`;
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside, { recursive: true });
  const command = ['--variant=minbase', ...options, name, aside, mirror, ...script];
  const { status } = spawnSync('debootstrap', command, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`debootstrap failed with code ${status}`);
  // The images of distributions are without them, too.
  for (const path of ['var/cache/apt', 'var/lib/apt/lists', 'var/log', 'usr/share/doc'])
    emptyFolder(join(aside, path));
  renameSync(aside, folder);
}

function emptyFolder(folder: string): void {
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
}
