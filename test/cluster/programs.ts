/** The stage `programs`: what the cluster runs, from the Go module proxy and from Debian. */
import { findProgram } from '#test/support/requirements.ts';
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
  debootstrap: 'debootstrap',
  openssl: 'openssl',
  nsenter: 'util-linux',
  vpp: 'FD.io VPP 26.06',
};

/** @throws Error that says what to install */
export function checkMachine(): void {
  if (process.getuid?.() !== 0) throw new Error('a cluster needs root');
  const missing = Object.keys(packages).filter((name) => findProgram(name) === undefined);
  if (missing.length > 0)
    throw new Error(
      `missing: ${missing.join(', ')}: install ${[...new Set(missing.map((name) => packages[name]))].join(', ')}`,
    );
}

export function buildPrograms(print: (line: string) => void): void {
  checkMachine();
  for (const name of Object.keys(goPrograms) as GoProgramName[]) {
    const before = performance.now();
    if (buildProgram(name))
      print(`${name}: built in ${Math.round((performance.now() - before) / 1000)} s`);
  }
}
