import type { VppClient } from '../../binapi/api.ts';

/**
 * The classifier of NAT44 decides for each packet that enters by an interface whether it is translated,
 * and in which direction. VPP enables it where an interface is inside and outside; but for each outside
 * interface it also adds the external address of every mapping to the table of the interface, and never
 * removes it if the mapping goes first. So an interface is registered as inside only, and the node that
 * VPP enables for that is replaced by the classifier.
 */
interface InputNodes {
  readonly classify: string;
  /** Translates each packet as one from inside. */
  readonly in2out: string;
}

const ARC = 'ip4-unicast';
const sameThread: InputNodes = { classify: 'nat44-ed-classify', in2out: 'nat-pre-in2out' };
const betweenWorkers: InputNodes = {
  classify: 'nat44-handoff-classify',
  in2out: 'nat44-in2out-worker-handoff',
};

/** VPP uses other nodes if it has several workers, whichever of them translate. */
const nodesOf = (hasWorkers: boolean): InputNodes => (hasWorkers ? betweenWorkers : sameThread);

/** A VPP that does not report the features of an interface gets no features that it cannot report. */
export function canClassify(client: VppClient): boolean {
  return client.has('feature_is_enabled');
}

/** Enables or disables a node on an interface. VPP runs a node twice that is enabled twice. */
export function setInputNode(
  client: VppClient,
  sw_if_index: number,
  node: keyof InputNodes,
  enable: boolean,
  hasWorkers: boolean,
): Promise<unknown> {
  const feature_name = nodesOf(hasWorkers)[node];
  return client.request('feature_enable_disable', {
    sw_if_index,
    enable,
    arc_name: ARC,
    feature_name,
  });
}

/** @param sw_if_index of an interface with features: VPP reports all as enabled where it has no state */
export async function isClassifying(
  client: VppClient,
  sw_if_index: number,
  hasWorkers: boolean,
): Promise<boolean> {
  const feature_name = nodesOf(hasWorkers).classify;
  const asked = { arc_name: ARC, feature_name, sw_if_index };
  return (await client.request('feature_is_enabled', asked)).is_enabled;
}
