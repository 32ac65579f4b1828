import type { HostFiles } from './host-files.ts';

/** The folders of container runtimes (docs/install.md); the last one is that of all others. */
const folders = [
  {
    sign: '/var/lib/rancher/k3s',
    bin: '/var/lib/rancher/k3s/data/cni',
    config: '/var/lib/rancher/k3s/agent/etc/cni/net.d',
  },
  {
    sign: '/var/snap/microk8s',
    bin: '/var/snap/microk8s/current/opt/cni/bin',
    config: '/var/snap/microk8s/current/args/cni-network',
  },
  { sign: '/', bin: '/opt/cni/bin', config: '/etc/cni/net.d' },
] as const;

export interface CniFolders {
  readonly bin: string;
  readonly config: string;
}

export const OWN_CONFIGURATION = '10-contiv-vpp.conflist';
export const OWN_PROGRAM = 'contiv-cni';

/** Of this machine. */
export function cniFolders(files: HostFiles): CniFolders {
  return folders.find(({ sign }) => files.has(sign))!;
}
