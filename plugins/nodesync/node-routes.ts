/** REST of the nodes of the cluster: their addresses, and how this node reaches them. */
import { type NodeDocument, NodeList } from '#documents/nodes.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { Slices, sortInSlices } from '#infra/clock/slices.ts';
import { limitArgument, searchArgument } from '#infra/http/list-arguments.ts';
import {
  argument,
  BadRequestError,
  type Route,
  type RouteRequest,
  type RouteResponse,
} from '#infra/http/route.ts';
import { streamedJson } from '#infra/http/streamed.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import type { WireguardSession } from '#plugins/controller/api/ports/wireguard.ts';
import type { ValueStateReader } from '#plugins/controller/api/value-states.ts';
import type { Ipv4NetApi, NodeLink } from '#plugins/ipv4net/api.ts';
import { countersDocument, type InterfaceSamples } from '#plugins/statscollector/api.ts';
import type { Node, NodeSyncApi } from './api.ts';

export interface NodeRoutesDeps {
  readonly nodeName: string;
  readonly nodes: Pick<NodeSyncApi, 'allNodes'>;
  readonly net: Pick<Ipv4NetApi, 'nodeLink' | 'nodeKeys' | 'nodeProblems'>;
  readonly values: ValueStateReader;
  /** With other nodes. */
  readonly sessions: () => readonly WireguardSession[];
  readonly samples: () => Promise<InterfaceSamples>;
  readonly clock: Clock;
}

const shownChoices = ['all', 'problems'] as const;

export function nodeRoutes(deps: NodeRoutesDeps): Route[] {
  return [
    {
      method: 'GET',
      path: '/contiv/v1/nodes',
      mutating: false,
      summary:
        'nodes of the cluster: addresses, how this node reaches them, counters of the tunnels',
      query: {
        search: { description: 'only nodes with this text in their ID, name or addresses' },
        show: {
          description:
            'problems: only nodes that cannot be reached, whose values have faults, or whose records are not used as a whole',
          choices: shownChoices,
        },
        limit: { description: 'number of nodes; default and largest: 200' },
      },
      reply: NodeList,
      handle: (request) => nodeList(deps, request),
    },
  ];
}

async function nodeList(deps: NodeRoutesDeps, request: RouteRequest): Promise<RouteResponse> {
  const { nodeName, nodes, clock } = deps;
  const limit = limitArgument(request, 'limit');
  const isFound = searchArgument(request, 'search');
  const show = argument(request, 'show') ?? 'all';
  if (!shownChoices.some((one) => one === show))
    throw new BadRequestError(`argument show="${show}" must be one of ${shownChoices.join(', ')}`);
  const slices = new Slices(clock);
  const all = [...nodes.allNodes().values()];
  const matching: Node[] = [];
  await slices.each(all, (node) => {
    const texts = [String(node.id), node.name, ...node.vppAddresses, ...node.managementAddresses];
    if (isFound(texts) && (show === 'all' || hasProblem(deps, node))) matching.push(node);
  });
  const rank = ({ id, name }: Node): number => (name === nodeName ? 0 : id);
  const sorted = await sortInSlices(matching, (a, b) => rank(a) - rank(b), slices);
  const samples = await deps.samples();
  const documents: NodeDocument[] = [];
  await slices.each(sorted.slice(0, limit), (node) => {
    documents.push(nodeDocument(deps, node, samples));
  });
  const { collectedAt, error } = samples;
  const list: NodeList = {
    thisNode: nodeName,
    total: all.length,
    matching: matching.length,
    collectedAt: collectedAt === undefined ? null : rfc3339(collectedAt),
    countersError: error ?? null,
    nodes: documents,
  };
  return streamedJson(list, clock);
}

function hasProblem({ nodeName, net, values }: NodeRoutesDeps, node: Node): boolean {
  if (net.nodeProblems().of(node.name).length > 0) return true;
  if (node.name === nodeName) return false;
  const link = net.nodeLink(node);
  if (!link) return false;
  if (link.whyUnreachable !== undefined) return true;
  return values.summaryOf(net.nodeKeys(node.name)).faults.length > 0;
}

function nodeDocument(deps: NodeRoutesDeps, node: Node, samples: InterfaceSamples): NodeDocument {
  const { nodeName, net, values } = deps;
  const { id, name, podCidr } = node;
  const isThisNode = name === nodeName;
  const link = isThisNode ? undefined : net.nodeLink(node);
  return {
    id,
    name,
    isThisNode,
    vppAddresses: node.vppAddresses,
    managementAddresses: node.managementAddresses,
    podCidr,
    problems: [...net.nodeProblems().of(name)],
    link: link
      ? {
          kind: kindOf(link),
          address: link.address ?? null,
          whyUnreachable: link.whyUnreachable ?? null,
          encryption: link.encryption ?? null,
          values: values.summaryOf(net.nodeKeys(name)),
        }
      : null,
    sessions: isThisNode ? [] : sessionsOf(deps, node),
    tunnel: link?.tunnel === undefined ? null : tunnelDocument(link.tunnel, values, samples),
  };
}

function sessionsOf({ net, sessions }: NodeRoutesDeps, node: Node): NodeDocument['sessions'] {
  const keys = new Set(node.wireguard?.keys.map(({ public_key }) => public_key));
  const used = net.nodeLink(node)?.encryptedBy ?? [];
  return sessions()
    .filter(({ publicKey }) => keys.has(publicKey))
    .map(({ iface, publicKey, isEstablished, since }) => ({
      interface: iface,
      publicKey,
      isUsed: used.includes(iface),
      isEstablished,
      since: rfc3339(since.getTime()),
    }));
}

function kindOf({
  address,
  tunnel,
  encryptedBy,
}: NodeLink): 'tunnel' | 'wireguard' | 'routes' | 'none' {
  if (address === undefined) return 'none';
  if (encryptedBy.length > 0) return 'wireguard';
  return tunnel === undefined ? 'routes' : 'tunnel';
}

function tunnelDocument(
  name: string,
  values: ValueStateReader,
  samples: InterfaceSamples,
): NodeDocument['tunnel'] {
  const key = vppInterfaceKey.build({ name });
  const [value] = values.statesOf([key]);
  const counters = samples.find(name);
  return {
    interface: name,
    key,
    state: value?.state ?? 'NONEXISTENT',
    counters: counters ? countersDocument(counters) : null,
  };
}
