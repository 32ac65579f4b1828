/** What the suites on a real VPP, a real kernel and a real etcd need of this machine. */
import { execFileSync, spawnSync } from 'node:child_process';

const packages: Readonly<Record<string, string>> = {
  vpp: 'FD.io VPP',
  vppctl: 'FD.io VPP',
  etcd: 'etcd-server',
  ip: 'iproute2',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
  chrt: 'util-linux',
  ethtool: 'ethtool',
  ping: 'iputils-ping',
};

/** False when a node can be run here, else the line that says what to install. */
export const missing: string | false = find();

function find(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'needs root on Linux, to give a node its own network namespace';
  for (const [program, what] of Object.entries(packages))
    if (spawnSync('which', [program]).status !== 0)
      return `no ${program} in the PATH: install ${what}`;
  const probe = `cv${process.pid}-probe`;
  try {
    execFileSync('ip', ['netns', 'add', probe], { stdio: 'pipe' });
    execFileSync('ip', ['netns', 'del', probe], { stdio: 'pipe' });
  } catch {
    return 'network namespaces are not allowed here: allow them (CAP_SYS_ADMIN)';
  }
  if (spawnSync('chrt', ['--fifo', '10', 'true']).status !== 0)
    return 'real-time scheduling is not allowed here: allow it (CAP_SYS_NICE)';
  return false;
}
