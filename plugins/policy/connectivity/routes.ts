/** REST of connectivity: who may reach whom in the whole cluster, and what a change would do. */
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import {
  ClusterPlan,
  type ConnectivityDocument,
  ConnectivityReply,
} from '#documents/connectivity.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import {
  argument,
  BadRequestError,
  BusyError,
  integerArgument,
  json,
  NotFoundError,
  type Route,
  type RouteRequest,
  type RouteResponse,
} from '#infra/http/route.ts';
import { streamedText } from '#infra/http/streamed.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import { policyProtocols } from '../port-set.ts';
import { type ClusterChangeDeps, clusterChange } from './cluster-change.ts';
import { changedConnections, connections } from './connections.ts';
import {
  changeItems,
  connectionItems,
  documentPieces,
  endpointItems,
  explanationDocument,
} from './connectivity-document.ts';
import {
  type EndpointFilter,
  filteredSides,
  namespacesOf,
  selectEndpoints,
  selectUnlisted,
} from './endpoint-selection.ts';
import { endpointsOf } from './endpoints.ts';
import { type AskedPort, explain } from './explanation.ts';
import { copiedInputs } from './kube-copy.ts';
import { knownNodes, type PlanDeps, planChange, recordedCluster } from './plan.ts';

export interface ConnectivityRoutesDeps extends PlanDeps, ClusterChangeDeps {
  /** Current at any time. */
  readonly kubeState: () => KubeState;
}

/** Each reply keeps the policies of all pods in memory until it is sent. */
const MAX_REPLIES = 2;

const objects = Type.Optional(Type.Array(Type.Object({}), { description: 'Kubernetes objects.' }));
const planBody = Type.Object({ added: objects, changed: objects, removed: objects });

export function connectivityRoutes(deps: ConnectivityRoutesDeps): Route[] {
  const limit = new ReplyLimit();
  return [
    {
      method: 'GET',
      path: '/contiv/v1/policy/connectivity',
      mutating: false,
      summary:
        'which pods and addresses may reach which on what ports; of one pair, why: from, to, port',
      query: {
        from: { description: 'pod or workload as namespace/name, or address; with to' },
        to: { description: 'pod or workload as namespace/name, or address; with from' },
        port: { description: 'of the destination, such as TCP/80' },
        namespace: { description: 'only ends in this namespace, and addresses outside' },
        search: { description: 'only ends with this text in their name or the name of a pod' },
        side: {
          description: 'ends to which namespace and search apply; default: both',
          choices: filteredSides,
        },
        limit: { description: 'largest number of sources, of destinations and of unlisted pods' },
      },
      reply: ConnectivityReply,
      handle: (request) => limit.run(() => connectivity(deps, request)),
    },
    {
      method: 'POST',
      path: '/contiv/v1/policy/plan',
      mutating: false,
      summary:
        'what objects in added, changed and removed would change: ACLs, NAT mappings, connections',
      body: planBody,
      reply: ClusterPlan,
      handle: ({ body }) => limit.run(() => plan(deps, body)),
    },
  ];
}

async function connectivity(
  { policies, kubeState, clock }: ConnectivityRoutesDeps,
  request: RouteRequest,
): Promise<RouteResponse> {
  const pair = pairOf(request);
  const filter = filterOf(request);
  const slices = new Slices(clock);
  const cluster = await recordedCluster(copiedInputs(kubeState()), knownNodes(policies), slices);
  if (pair) {
    const explanation = explain(cluster, pair.from, pair.to, pair.port);
    if ('unknown' in explanation)
      throw new NotFoundError(`no pod with an address has the name ${explanation.unknown}`);
    return json(explanationDocument(explanation));
  }
  const all = await endpointsOf([cluster], slices);
  const { endpoints, matching } = await selectEndpoints(all, filter, slices);
  const unlisted = await selectUnlisted(cluster.unlisted, filter, slices);
  return jsonPieces(
    documentPieces<ConnectivityDocument>({
      endpoints: endpointItems(endpoints),
      connections: connectionItems(connections(endpoints)),
      unlisted: unlisted.slice(0, filter.limit),
      sources: endpoints.sources.map(({ name }) => name),
      destinations: endpoints.destinations.map(({ name }) => name),
      matching: { ...matching, unlisted: unlisted.length },
      namespaces: namespacesOf(all),
    }),
    clock,
  );
}

async function plan(deps: ConnectivityRoutesDeps, body: unknown): Promise<RouteResponse> {
  const { policies, kubeState, clock } = deps;
  const slices = new Slices(clock);
  const before = copiedInputs(kubeState());
  const change = await clusterChange(body, before, deps, slices);
  const { kube: after } = change;
  const known = knownNodes(policies);
  const { operations, services, problems } = await planChange(deps, before, change, slices);
  const clusters = [
    await recordedCluster(before, known, slices),
    await recordedCluster(after, known, slices),
  ];
  const endpoints = await endpointsOf(clusters, slices);
  return jsonPieces(
    documentPieces<ClusterPlan>({
      problems: [...change.problems, ...problems].map((text) => ({ text })),
      operations,
      services,
      changes: changeItems(changedConnections(endpoints)),
      endpoints: endpointItems(endpoints),
      unlisted: clusters[1]?.unlisted ?? [],
    }),
    clock,
  );
}

/** @throws BadRequestError */
function filterOf(request: RouteRequest): EndpointFilter {
  const side = argument(request, 'side') ?? 'both';
  const known = filteredSides.find((one) => one === side);
  if (known === undefined)
    throw new BadRequestError(`argument side="${side}" has to be ${filteredSides.join(', ')}`);
  return {
    namespace: argument(request, 'namespace') || undefined,
    search: argument(request, 'search')?.toLowerCase() || undefined,
    side: known,
    limit: integerArgument(request, 'limit'),
  };
}

interface Pair {
  readonly from: string;
  readonly to: string;
  readonly port: AskedPort | undefined;
}

/** @throws BadRequestError */
function pairOf(request: RouteRequest): Pair | undefined {
  const from = argument(request, 'from');
  const to = argument(request, 'to');
  const port = argument(request, 'port');
  if (from !== undefined && to !== undefined)
    return { from, to, port: port?.length ? askedPort(port) : undefined };
  if (from === undefined && to === undefined && port === undefined) return undefined;
  throw new BadRequestError('the arguments from and to have to be given together');
}

function askedPort(text: string): AskedPort {
  const [, name = 'TCP', number = ''] = /^(?:([a-z]+)\/)?(\d{1,5})$/i.exec(text) ?? [];
  const protocol = policyProtocols.find((one) => one === name.toUpperCase());
  const port = Number(number);
  if (protocol && port >= 1 && port <= 65_535) return { protocol, port };
  throw new BadRequestError(`argument port="${text}" has to be such as TCP/80`);
}

function jsonPieces(pieces: Iterable<string>, clock: Clock): RouteResponse {
  return streamedText(pieces, clock, 'application/json; charset=utf-8');
}

class ReplyLimit {
  #count = 0;

  async run(answer: () => Promise<RouteResponse>): Promise<RouteResponse> {
    if (this.#count >= MAX_REPLIES)
      throw new BusyError(`${MAX_REPLIES} requests of this kind are being answered: try it later`);
    this.#count++;
    let isStreamed = false;
    try {
      const response = await answer();
      if (response.body instanceof Readable) {
        isStreamed = true;
        response.body.once('close', () => void this.#count--);
      }
      return response;
    } finally {
      if (!isStreamed) this.#count--;
    }
  }
}
