/**
 * Which endpoints of a port get traffic on this node, as kube-proxy selects them: ready ones, of those
 * the ones that are hinted for this node or its zone; without a ready one, those that terminate and
 * still serve. The policy Local has its own selection, without hints.
 */
import type { Endpoint } from './endpoint-list.ts';
import type { TrafficPolicy } from './service-spec.ts';

/** The place of the node, for hints. */
export interface Topology {
  readonly nodeName: string;
  /** Empty: unknown. */
  readonly zone: string;
}

/** Why an endpoint is not used; undefined: it is used. */
export type Judgment = (endpoint: Endpoint) => string | undefined;

export function judgmentFor(
  policy: TrafficPolicy,
  endpoints: readonly Endpoint[],
  topology: Topology,
): Judgment {
  return policy === 'Local' ? localJudgment(endpoints) : clusterJudgment(endpoints, topology);
}

/** Those of one node that get its traffic with the policy Local. */
export function usedOnNode(endpoints: readonly Endpoint[]): Endpoint[] {
  const hasReady = endpoints.some(({ state }) => state === 'ready');
  return endpoints.filter(({ state }) => whyNotState(state, hasReady) === undefined);
}

const NOT_READY = 'it is not ready';

function localJudgment(endpoints: readonly Endpoint[]): Judgment {
  const hasReady = endpoints.some(({ isLocal, state }) => isLocal && state === 'ready');
  return ({ isLocal, state }) => {
    if (!isLocal) return 'it is not on this node, and the traffic policy is Local';
    return whyNotState(state, hasReady);
  };
}

function clusterJudgment(endpoints: readonly Endpoint[], topology: Topology): Judgment {
  const ready = endpoints.filter(({ state }) => state === 'ready');
  const hint = hintInUse(ready, topology);
  return (endpoint) => {
    const why = whyNotState(endpoint.state, ready.length > 0);
    if (why !== undefined || endpoint.state !== 'ready') return why;
    if (hint === 'node' && !endpoint.forNodes.includes(topology.nodeName))
      return 'it is hinted for other nodes';
    if (hint === 'zone' && !endpoint.forZones.includes(topology.zone))
      return 'it is hinted for other zones';
    return undefined;
  };
}

function whyNotState(state: Endpoint['state'], hasReady: boolean): string | undefined {
  if (state === 'not-ready') return NOT_READY;
  if (state === 'terminating' && hasReady) return 'it terminates, and another endpoint is ready';
  return undefined;
}

/** Hints are used only if all ready endpoints have one, and one of them is for this node or zone. */
function hintInUse(
  ready: readonly Endpoint[],
  { nodeName, zone }: Topology,
): 'node' | 'zone' | undefined {
  if (
    ready.every(({ forNodes }) => forNodes.length > 0) &&
    ready.some(({ forNodes }) => forNodes.includes(nodeName))
  )
    return 'node';
  if (
    ready.every(({ forZones }) => forZones.length > 0) &&
    ready.some(({ forZones }) => forZones.includes(zone))
  )
    return 'zone';
  return undefined;
}
