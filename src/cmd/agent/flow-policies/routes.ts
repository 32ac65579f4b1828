/** REST of flows beside policies: what a change of policies would refuse, and which permissions are used. */
import { Type } from 'typebox';
import { FlowPlan, type RefusedPair, SeenPolicies } from '#documents/flow-policies.ts';
import type { Flow } from '#documents/flows.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { Slices } from '#infra/clock/slices.ts';
import { argument, BusyError, type Route } from '#infra/http/route.ts';
import { streamedJson } from '#infra/http/streamed.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { PolicyApi } from '#plugins/policy/api.ts';
import {
  type ClusterChangeDeps,
  clusterChange,
} from '#plugins/policy/connectivity/cluster-change.ts';
import { explain } from '#plugins/policy/connectivity/explanation.ts';
import { copiedInputs } from '#plugins/policy/connectivity/kube-copy.ts';
import { knownNodes, recordedCluster } from '#plugins/policy/connectivity/plan.ts';
import { denialText } from '../flow-reasons/policy-reasons.ts';
import { type SeenConnection, seenConnection } from './seen-connections.ts';
import { UsedPermissions } from './used-permissions.ts';

export interface FlowPolicyRoutesDeps extends ClusterChangeDeps {
  readonly label: string;
  readonly policies: Pick<PolicyApi, 'attachedPods' | 'ownAddresses'>;
  /** Current at any time. */
  readonly kubeState: () => KubeState;
  /** The records, the oldest change first. */
  readonly flows: () => Iterable<Flow>;
  readonly clock: Clock;
}

const HOUR_MS = 3_600_000;
const MAX_REFUSED = 1_000;

const objects = Type.Optional(Type.Array(Type.Object({}), { description: 'Kubernetes objects.' }));

export function flowPolicyRoutes(deps: FlowPolicyRoutesDeps): Route[] {
  const { clock } = deps;
  let isBusy = false;
  /** Each answer keeps the policies of all pods in memory. */
  async function alone<T>(answer: () => Promise<T>): Promise<T> {
    if (isBusy) throw new BusyError('a request of this kind is being answered: try it later');
    isBusy = true;
    try {
      return await answer();
    } finally {
      isBusy = false;
    }
  }
  return [
    {
      method: 'POST',
      path: '/contiv/v1/flows/plan',
      mutating: false,
      permission: 'flows',
      summary:
        'connections of the last hour that objects in added, changed and removed would refuse',
      body: Type.Object({ added: objects, changed: objects, removed: objects }),
      reply: FlowPlan,
      handle: async ({ body }) => streamedJson(await alone(() => flowPlan(deps, body)), clock),
    },
    {
      method: 'GET',
      path: '/contiv/v1/flows/policies',
      mutating: false,
      permission: 'flows',
      summary:
        'which workloads of a namespace were seen to connect, and which permissions they use',
      query: { namespace: { description: 'of the pods; default: all' } },
      reply: SeenPolicies,
      handle: async (request) => {
        const namespace = argument(request, 'namespace') || undefined;
        return streamedJson(await alone(() => seenPolicies(deps, namespace)), clock);
      },
    },
  ];
}

async function flowPlan(deps: FlowPolicyRoutesDeps, body: unknown): Promise<FlowPlan> {
  const { label, policies, kubeState, flows, clock } = deps;
  const slices = new Slices(clock);
  const before = copiedInputs(kubeState());
  const { kube: after } = await clusterChange(body, before, deps, slices);
  const known = knownNodes(policies);
  const old = await recordedCluster(before, known, slices);
  const next = await recordedCluster(after, known, slices);
  const since = clock.now() - HOUR_MS;
  const groups = new Map<string, SeenConnection[]>();
  let [connections, unknown] = [0, 0];
  for (const flow of flows()) {
    if (slices.due()) await slices.turn();
    if (flow.ended !== undefined && Date.parse(flow.ended) < since) continue;
    const seen = seenConnection(flow);
    if (seen === undefined) continue;
    connections++;
    if (seen === 'unknown') {
      unknown++;
      continue;
    }
    const key = `${seen.from} ${seen.to} ${seen.protocol} ${seen.port}`;
    const group = groups.get(key);
    if (group) group.push(seen);
    else groups.set(key, [seen]);
  }
  const refused: RefusedPair[] = [];
  for (const group of groups.values()) {
    if (slices.dueNow()) await slices.turn();
    const { from, to, protocol, port } = group[0]!;
    const asked = { protocol, port };
    const [was, is] = [explain(old, from, to, asked), explain(next, from, to, asked)];
    if ('unknown' in was || was.permitted.isEmpty || 'unknown' in is || !is.permitted.isEmpty)
      continue;
    const begins = group.map(({ flow }) => flow.time).sort();
    const last = begins.at(-1)!;
    const reason = denialText(is, asked);
    const connections = group.length;
    refused.push({ client: from, server: to, ...asked, connections, last, reason });
  }
  refused.sort((a, b) => b.connections - a.connections);
  return {
    node: label,
    since: rfc3339(since),
    connections,
    unknown,
    refused: refused.slice(0, MAX_REFUSED),
  };
}

async function seenPolicies(
  { label, policies, kubeState, flows, clock }: FlowPolicyRoutesDeps,
  namespace: string | undefined,
): Promise<SeenPolicies> {
  const slices = new Slices(clock);
  const kube = copiedInputs(kubeState());
  const cluster = await recordedCluster(kube, knownNodes(policies), slices);
  const used = new UsedPermissions(kube, cluster, namespace);
  let [unknown, oldest] = [0, clock.now()];
  for (const flow of flows()) {
    if (slices.due()) await slices.turn();
    oldest = Math.min(oldest, Date.parse(flow.time));
    const seen = seenConnection(flow);
    if (seen === 'unknown') unknown++;
    else if (seen !== undefined) used.add(seen);
  }
  return {
    node: label,
    since: rfc3339(oldest),
    pairs: used.pairs(),
    permissions: used.permissions(),
    unknown,
  };
}
