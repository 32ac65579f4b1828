/**
 * A repository of Debian packages in place of FD.io's, which needs the Internet: the VPP of this machine in
 * packages of the same names and version, signed with a key that is made for it.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findProgram } from '../../support/requirements.ts';

const VERSION = '26.06-release';
const MAINTAINER = 'Test <test@localhost>';

/** Libraries of the distribution that the packages of FD.io depend on. */
const libraries = ['libnl-3-200', 'libnl-route-3-200', 'libssl3t64', 'libunwind8'];

/** @param folder gets what is below `https://packagecloud.io/fdio/release` */
export function writeFdioRepository(folder: string): void {
  const prefix = dirname(dirname(realpathSync(findProgram('vpp')!)));
  const architecture = text('dpkg', ['--print-architecture']);
  const multiarch = basename(globSync(`${prefix}/lib/*-linux-gnu`)[0]!);
  const lib = `usr/lib/${multiarch}`;
  const from = join(prefix, 'lib', multiarch);
  const packages: Record<string, { depends: readonly string[]; files: Record<string, string> }> = {
    libvppinfra: { depends: libraries, files: sharedObjects(from, lib) },
    vpp: {
      depends: [`libvppinfra (= ${VERSION})`],
      files: {
        [join(prefix, 'bin/vpp')]: 'usr/bin/vpp',
        [join(prefix, 'bin/vppctl')]: 'usr/bin/vppctl',
        [join(prefix, 'bin/vpp_api_test')]: 'usr/bin/vpp_api_test',
        [join(prefix, 'share/vpp')]: 'usr/share/vpp',
      },
    },
    'vpp-crypto-engines': {
      depends: [`vpp (= ${VERSION})`],
      files: { [join(from, 'vpp_crypto_engines')]: `${lib}/vpp_crypto_engines` },
    },
    'vpp-plugin-core': {
      depends: [`vpp (= ${VERSION})`],
      files: { [join(from, 'vpp_plugins')]: `${lib}/vpp_plugins` },
    },
    'vpp-plugin-dpdk': { depends: [`vpp (= ${VERSION})`], files: {} },
  };
  const pool = join(folder, 'ubuntu/pool');
  mkdirSync(pool, { recursive: true });
  const index: string[] = [];
  for (const [name, { depends, files }] of Object.entries(packages)) {
    const root = join(folder, 'packages', name);
    mkdirSync(join(root, 'DEBIAN'), { recursive: true });
    for (const [source, target] of Object.entries(files))
      cpSync(source, join(root, target), { recursive: true, dereference: true });
    const control = [
      `Package: ${name}`,
      `Version: ${VERSION}`,
      `Architecture: ${architecture}`,
      `Maintainer: ${MAINTAINER}`,
      `Depends: ${depends.join(', ')}`,
      'Description: VPP of this machine',
    ].join('\n');
    writeFileSync(join(root, 'DEBIAN/control'), `${control}\n`);
    const file = join(pool, `${name}.deb`);
    execFileSync('dpkg-deb', ['-Zgzip', '-z1', '--root-owner-group', '--build', root, file]);
    index.push(
      `${control}\nFilename: pool/${name}.deb\nSize: ${statSync(file).size}\nSHA256: ${sha256(file)}\n`,
    );
  }
  sign(folder, join(folder, 'ubuntu/dists/noble'), architecture, index.join('\n'));
}

/** The libraries under the names that programs look for. */
function sharedObjects(from: string, to: string): Record<string, string> {
  const files = globSync(`${from}/*.so.*`);
  return Object.fromEntries(files.map((file) => [file, `${to}/${basename(file)}`]));
}

function sign(folder: string, suite: string, architecture: string, index: string): void {
  const list = `main/binary-${architecture}/Packages`;
  mkdirSync(dirname(join(suite, list)), { recursive: true });
  writeFileSync(join(suite, list), index);
  const release = [
    'Suite: noble',
    'Codename: noble',
    `Date: ${new Date().toUTCString()}`,
    `Architectures: ${architecture}`,
    'Components: main',
    `SHA256:\n ${sha256(join(suite, list))} ${statSync(join(suite, list)).size} ${list}`,
  ].join('\n');
  writeFileSync(join(suite, 'Release'), `${release}\n`);
  const home = join(folder, 'gnupg');
  mkdirSync(home, { mode: 0o700 });
  const gpg = (...args: string[]): string =>
    text('gpg', ['--homedir', home, '--batch', '--quiet', '--passphrase', '', ...args]);
  gpg('--quick-gen-key', MAINTAINER, 'rsa2048', 'sign', 'never');
  writeFileSync(join(folder, 'gpgkey'), `${gpg('--armor', '--export')}\n`);
  gpg('--clearsign', '--output', join(suite, 'InRelease'), join(suite, 'Release'));
  execFileSync('gpgconf', ['--homedir', home, '--kill', 'gpg-agent']);
}

const text = (program: string, args: readonly string[]): string =>
  execFileSync(program, args, { encoding: 'utf8' }).trim();

const sha256 = (file: string): string =>
  createHash('sha256').update(readFileSync(file)).digest('hex');
