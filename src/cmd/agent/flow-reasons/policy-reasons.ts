import type { Flow, FlowEnd } from '#documents/flows.ts';
import type { FlowReason } from '#flows/flow-reason.ts';
import type { PeerPort } from '#flows/peers.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { PolicyApi } from '#plugins/policy/api.ts';
import type { ClusterPolicies } from '#plugins/policy/connectivity/cluster-policies.ts';
import {
  type DirectionExplanation,
  type Explanation,
  explain,
} from '#plugins/policy/connectivity/explanation.ts';
import { copiedInputs } from '#plugins/policy/connectivity/kube-copy.ts';
import { knownNodes, recordedCluster } from '#plugins/policy/connectivity/plan.ts';
import { ruleText } from '#plugins/policy/connectivity/rule-document.ts';
import type { PolicyDirection } from '#plugins/policy/pod-policy.ts';

export interface PolicyReasonsDeps {
  readonly policies: Pick<PolicyApi, 'attachedPods' | 'ownAddresses'>;
  /** Current at any time. */
  readonly kubeState: () => KubeState;
  /** Number of events that the agent has handled: without another one no policy has changed. */
  readonly eventCount: () => number;
  readonly clock: Clock;
}

interface Computed {
  readonly events: number;
  readonly at: number;
  readonly cluster: ClusterPolicies;
}

/** The policies of a large cluster take a second; a changing one is computed this often at most. */
const SHORTEST_AGE_MS = 5_000;

/** Why connections get no answer, by the network policies of the whole cluster. */
export class PolicyReasons {
  readonly #deps: PolicyReasonsDeps;
  #computed: Computed | undefined;

  constructor(deps: PolicyReasonsDeps) {
    this.#deps = deps;
  }

  /** @returns undefined: policies do not decide about it, or permit it */
  async find({ client, server, protocol }: Flow): Promise<FlowReason | undefined> {
    // which pod VPP has chosen is unknown, and so is an address that is shortened; no policy denies anything to a node
    if (server.kind === 'service' || server.port === undefined || client.kind === 'node') return;
    const ends = [client, server].map(nameOf);
    if (ends.some((name) => name.includes('/') && !isPodName(name))) return;
    const port = { protocol, port: server.port };
    const explanation = explain(await this.#current(), ends[0]!, ends[1]!, port);
    if ('unknown' in explanation || !explanation.permitted.isEmpty) return;
    const reason = denialText(explanation, port);
    return reason === '' ? undefined : { verdict: 'denied', reason };
  }

  async #current(): Promise<ClusterPolicies> {
    const { policies, kubeState, eventCount, clock } = this.#deps;
    const events = eventCount();
    const now = clock.monotonic();
    const last = this.#computed;
    if (last && (last.events === events || now - last.at < SHORTEST_AGE_MS)) return last.cluster;
    const kube = copiedInputs(kubeState());
    const cluster = await recordedCluster(kube, knownNodes(policies), new Slices(clock));
    this.#computed = { events, at: now, cluster };
    return cluster;
  }
}

function nameOf({ kind, name, address }: FlowEnd): string {
  return kind === 'pod' ? name : address;
}

function isPodName(text: string): boolean {
  return /^[a-z0-9]/.test(text) && !/[:/]\d+$/.test(text);
}

export function denialText(
  { from, to, egress, ingress }: Explanation,
  { protocol, port }: PeerPort,
): string {
  const of = `${protocol} port ${port}`;
  return [
    ...denials('egress', from, egress, `${of} of ${to}`),
    ...denials('ingress', to, ingress, `${of} from ${from}`),
  ].join('; ');
}

/** None, if the direction permits it. */
function denials(
  direction: PolicyDirection,
  pod: string,
  explanation: DirectionExplanation | undefined,
  asked: string,
): string[] {
  const { policies = [], rules = [] } = explanation ?? {};
  const denying = rules.find(({ rule }) => rule.action === 'Deny')?.rule;
  if (denying === undefined) return [];
  if (denying.rule !== undefined)
    return [`${direction} of ${pod} is ${ruleText(denying, direction)}: ${asked}`];
  // the names of policies of the cluster are without a namespace
  const isolating =
    denying.tier === 'NetworkPolicy'
      ? policies.filter((name) => name.includes('/'))
      : [denying.policy];
  return [
    `${pod} is isolated for ${direction} by ${isolating.join(', ')}: no rule permits ${asked}`,
  ];
}
