/** The stage `programs`: what the cluster runs, from the Go module proxy and from Debian. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CNI_PLUGINS, findProgram } from '#test/support/requirements.ts';
import { buildProgram, type GoProgramName, goPrograms } from './go-programs.ts';

/** Programs of the machine, with the Debian package of each. */
const packages: Readonly<Record<string, string>> = {
  go: 'Go 1.26 from https://go.dev/dl',
  containerd: 'containerd',
  ctr: 'containerd',
  crun: 'crun',
  ip: 'iproute2',
  ethtool: 'ethtool',
  iptables: 'iptables',
  nft: 'nftables',
  conntrack: 'conntrack',
  socat: 'socat',
  busybox: 'busybox-static',
  cc: 'gcc',
  curl: 'curl',
  debootstrap: 'debootstrap',
  git: 'git',
  gpg: 'gnupg',
  openssl: 'openssl',
  pgrep: 'procps',
  nsenter: 'util-linux',
  vpp: 'FD.io VPP 26.06',
};

/** @throws Error that says what to install */
export function checkMachine(): void {
  if (process.getuid?.() !== 0) throw new Error('a cluster needs root');
  const missing = Object.keys(packages).filter((name) => findProgram(name) === undefined);
  const wanted = new Set(missing.map((name) => packages[name]));
  if (!existsSync(join(CNI_PLUGINS, 'portmap'))) {
    missing.push(`portmap in ${CNI_PLUGINS}`);
    wanted.add('containernetworking-plugins');
  }
  if (missing.length > 0)
    throw new Error(`missing: ${missing.join(', ')}: install ${[...wanted].join(', ')}`);
}

export function buildPrograms(print: (line: string) => void): void {
  checkMachine();
  for (const name of Object.keys(goPrograms) as GoProgramName[]) {
    const before = performance.now();
    if (buildProgram(name))
      print(`${name}: built in ${Math.round((performance.now() - before) / 1000)} s`);
  }
}
