import type { StartServiceCluster } from '../service-cluster.ts';

/** Nodes that reach each other through their NICs instead of VXLAN tunnels. */
export function withoutOverlay(start: StartServiceCluster): StartServiceCluster {
  return (options = {}) =>
    start({ ...options, contiv: { ...options.contiv, nodeToNodeTransport: 'nooverlay' } });
}
