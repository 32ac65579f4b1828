import { kubectl } from './kubectl.ts';

/** Release of the VPP in the cluster, as it says itself. */
export function vppVersion(): string {
  const pod = ['-n', 'kube-system', 'exec', 'daemonset/contiv-vswitch', '-c', 'contiv-vpp'];
  const text = kubectl(...pod, '--', 'vppctl', '-s', '/run/vpp/cli.sock', 'show', 'version');
  return /vpp (v\S+)/.exec(text)?.[1] ?? text.trim();
}
