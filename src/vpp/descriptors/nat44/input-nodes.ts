import type { VppClient } from '../../binapi/api.ts';

/**
 * The nodes of NAT44 at the input of an interface. VPP enables one for each role, which the agent replaces where it does too much.
 *
 * The classifier decides for each packet that enters by an interface whether it is translated,
 * and in which direction. VPP enables it where an interface is inside and outside; but for each outside
 * interface it also adds the external address of every mapping to the table of the interface, and never
 * removes it if the mapping goes first. So an interface is registered as inside only, and the node that
 * VPP enables for that is replaced by the classifier.
 *
 * An interface with the output feature translates in both directions; where it is to translate packets that leave alone, the
 * nodes at its input are disabled.
 */
export interface InputNodes {
  readonly classify: string;
  /** Translates each packet as one from inside. */
  readonly in2out: string;
  /** Translates each packet as one from outside. */
  readonly out2in: string;
  /** Gives fragments the ports of their packet. */
  readonly reassembly: string;
}

const ARC = 'ip4-unicast';
const REASSEMBLY = 'ip4-sv-reassembly-feature';
const sameThread: InputNodes = {
  classify: 'nat44-ed-classify',
  in2out: 'nat-pre-in2out',
  out2in: 'nat-pre-out2in',
  reassembly: REASSEMBLY,
};
const betweenWorkers: InputNodes = {
  classify: 'nat44-handoff-classify',
  in2out: 'nat44-in2out-worker-handoff',
  out2in: 'nat44-out2in-worker-handoff',
  reassembly: REASSEMBLY,
};

/** VPP uses other nodes if it has several workers, whichever of them translate. */
const nodesOf = (hasWorkers: boolean): InputNodes => (hasWorkers ? betweenWorkers : sameThread);

export function isInputNode(text: string): text is keyof InputNodes {
  return text in sameThread;
}

/** A VPP that does not report the features of an interface gets no features that it cannot report. */
export function knowsInputNodes(client: VppClient): boolean {
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
export async function hasInputNode(
  client: VppClient,
  sw_if_index: number,
  node: keyof InputNodes,
  hasWorkers: boolean,
): Promise<boolean> {
  const feature_name = nodesOf(hasWorkers)[node];
  const asked = { arc_name: ARC, feature_name, sw_if_index };
  return (await client.request('feature_is_enabled', asked)).is_enabled;
}
