import type { VppClient } from '../../binapi/api.ts';
import { isFeatureEnabled } from '../interface/feature-state.ts';

/**
 * The nodes of NAT44 at an interface. VPP enables those of a side when the interface is registered for it. Outside interfaces and
 * those with the output feature also get the external address of every mapping in their table, which stays if the mapping goes
 * first, and VPP answers ARP requests for it only at the one that was added last. So an interface that is no uplink is registered as
 * inside only, and its nodes are replaced:
 *
 * - by the classifier, which VPP enables where an interface is inside and outside: it decides for each packet that enters whether it
 *   is translated, and in which direction;
 * - at the link before the uplink by those of the output feature, which translate the sources of packets that leave.
 */
export type NatNode = 'classify' | 'in2out' | 'reassembly' | 'output' | 'output-reassembly';

interface GraphNode {
  readonly arc_name: 'ip4-unicast' | 'ip4-output';
  readonly feature_name: string;
}

const input = (feature_name: string): GraphNode => ({ arc_name: 'ip4-unicast', feature_name });
const output = (feature_name: string): GraphNode => ({ arc_name: 'ip4-output', feature_name });

/** Fragments get the ports of their packet there. */
const reassembly = {
  reassembly: input('ip4-sv-reassembly-feature'),
  'output-reassembly': output('ip4-sv-reassembly-output-feature'),
} as const;

type GraphNodes = Readonly<Record<NatNode, GraphNode>>;

const sameThread: GraphNodes = {
  ...reassembly,
  classify: input('nat44-ed-classify'),
  // translates each packet as one from inside
  in2out: input('nat-pre-in2out'),
  output: output('nat-pre-in2out-output'),
};
const betweenWorkers: GraphNodes = {
  ...reassembly,
  classify: input('nat44-handoff-classify'),
  in2out: input('nat44-in2out-worker-handoff'),
  output: output('nat44-in2out-output-worker-handoff'),
};

/** VPP uses other nodes if it has several workers, whichever of them translate. */
const nodesOf = (hasWorkers: boolean): GraphNodes => (hasWorkers ? betweenWorkers : sameThread);

/** Nodes that stay where VPP disables NAT44, because it has not enabled them. */
export const addedNodes: readonly NatNode[] = ['classify', 'output', 'output-reassembly'];

/** A VPP that does not report the nodes of an interface gets none that it cannot report. */
export function knowsNodes(client: VppClient): boolean {
  return client.has('feature_is_enabled');
}

/** Enables or disables a node on an interface. VPP runs a node twice that is enabled twice. */
export function setNode(
  client: VppClient,
  sw_if_index: number,
  node: NatNode,
  enable: boolean,
  hasWorkers: boolean,
): Promise<unknown> {
  return client.request('feature_enable_disable', {
    sw_if_index,
    enable,
    ...nodesOf(hasWorkers)[node],
  });
}

/**
 * @param sw_if_index of an interface with NAT44. VPP reports all nodes of an arc as enabled where an interface has none there,
 * as one that is inside has none at its output.
 */
export async function hasNode(
  client: VppClient,
  sw_if_index: number,
  node: NatNode,
  hasWorkers: boolean,
): Promise<boolean> {
  const { arc_name, feature_name } = nodesOf(hasWorkers)[node];
  if (arc_name === 'ip4-output')
    return isFeatureEnabled(client, sw_if_index, {
      arc: arc_name,
      node: feature_name,
      end: 'interface-output',
    });
  return (await client.request('feature_is_enabled', { arc_name, feature_name, sw_if_index }))
    .is_enabled;
}
