/** Hints for a ready endpoint, as the controller of EndpointSlices writes them. */
import type { KubeNode } from './objects/cluster.ts';
import type { KubeService } from './objects/service.ts';

/** Zones of nodes, by the name of the node; nodes without a zone are missing. */
export type NodeZones = ReadonlyMap<string, string>;

export function nodeZones(nodes: readonly KubeNode[]): NodeZones {
  const zones = new Map<string, string>();
  for (const { metadata } of nodes) {
    const zone = metadata.labels?.['topology.kubernetes.io/zone'];
    if (zone) zones.set(metadata.name, zone);
  }
  return zones;
}

export interface TopologyHints {
  readonly for_zones: string[];
  readonly for_nodes: string[];
}

/** @param nodeName node of the endpoint; undefined: unknown */
export function topologyHints(
  { spec }: KubeService,
  nodeName: string | undefined,
  zones: NodeZones,
): TopologyHints {
  const { trafficDistribution: wanted = '' } = spec;
  const prefersNode = wanted === 'PreferSameNode';
  if (nodeName === undefined || !(prefersNode || /^Prefer(Close|SameZone)$/.test(wanted)))
    return { for_zones: [], for_nodes: [] };
  const zone = zones.get(nodeName);
  return {
    for_zones: zone === undefined ? [] : [zone],
    for_nodes: prefersNode ? [nodeName] : [],
  };
}
