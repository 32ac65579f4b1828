/** Routes about all nodes of the cluster, for the page: this agent asks the others, the browser only this one. */
import { ClusterNames, ClusterStatus, type NodeStatus } from '#documents/cluster.ts';
import { Slices, sortInSlices } from '#infra/clock/slices.ts';
import { LIST_LIMIT, limitArgument, searchArgument } from '#infra/http/list-arguments.ts';
import {
  argument,
  BadRequestError,
  BusyError,
  json,
  type Route,
  type RouteRequest,
  type RouteResponse,
} from '#infra/http/route.ts';
import { streamedJson } from '#infra/http/streamed.ts';
import type { NodeRequest } from '#netctl/requests/node-client.ts';
import { clusterStatus } from './cluster-status.ts';
import { refusal } from './failures.ts';
import { type KnownNode, OtherAgents, type OtherAgentsDeps } from './other-agents.ts';
import { RelayedBody } from './relayed-body.ts';
import { checkRelayed } from './relayed-documents.ts';

export interface ClusterRoutesDeps extends OtherAgentsDeps {
  readonly ownStatus: () => Promise<NodeStatus>;
}

/** Requests that wait for another node, of all clients. */
const MAX_DOCUMENTS = 24;
const MAX_STREAMS = 8;
const MAX_COLLECTIONS = 2;
/** An agent sends something every ten seconds. */
const STREAM_SILENCE_MS = 35_000;
/** More are looked for by name. */
const ASKED_NODES = 50;

export function clusterRoutes(deps: ClusterRoutesDeps): Route[] {
  const { clock, http, label } = deps;
  const cluster = http['cluster-name'];
  const agents = new OtherAgents(deps);
  const documents = new Places(MAX_DOCUMENTS, 'documents of other nodes are being read');
  const streams = new Places(MAX_STREAMS, 'clients follow the events of other nodes');
  const collections = new Places(MAX_COLLECTIONS, 'requests ask all nodes');
  return [
    {
      method: 'GET',
      path: '/contiv/v1/cluster',
      mutating: false,
      isStream: true,
      summary:
        'nodes of the cluster: what each says about itself, and why others have not answered; this node asks them',
      query: {
        search: { description: 'only nodes with this text in their name or ID' },
        limit: { description: 'number of nodes; default: 50, largest: 200' },
      },
      reply: ClusterStatus,
      handle: async (request) => {
        const limit = request.query['limit'] ? limitArgument(request, 'limit') : ASKED_NODES;
        const matching = await matchingNodes(agents, deps, searchArgument(request, 'search'));
        const leave = collections.take();
        try {
          const asked = matching.slice(0, limit);
          const own = { thisNode: label, read: deps.ownStatus };
          const ask = (node: KnownNode, signal: AbortSignal) =>
            agents.of(node, request.authorization, signal);
          const found = await clusterStatus(asked, own, ask, clock);
          const total = agents.all().length;
          const known = { cluster, thisNode: label, total };
          return streamedJson({ ...known, matching: matching.length, ...found }, clock);
        } finally {
          leave();
        }
      },
    },
    {
      method: 'GET',
      path: '/contiv/v1/cluster/names',
      mutating: false,
      summary: 'names of the cluster and of its nodes',
      reply: ClusterNames,
      handle: async () => {
        const all = await matchingNodes(agents, deps, () => true);
        const names: ClusterNames = {
          cluster,
          thisNode: label,
          total: all.length,
          nodes: all.slice(0, LIST_LIMIT).map(({ name }) => name),
        };
        return json(names);
      },
    },
    {
      method: 'GET',
      path: '/contiv/v1/cluster/document',
      mutating: false,
      isStream: true,
      summary: 'a document of another node that the page shows; this node asks for it',
      query: {
        node: { description: 'name of the other node', isRequired: true },
        path: {
          description:
            'of the document, with its arguments and without a slash before it, such as contiv/v1/pods',
          isRequired: true,
        },
      },
      handle: async (request) => {
        const path = argument(request, 'path') ?? '';
        checkRelayed(path);
        // as the document of a probe that fails
        const repliesWith = path === 'readiness' ? [500] : [];
        const asked: NodeRequest = { method: 'GET', path, repliesWith };
        return relay(agents, request, asked, documents, 'application/json; charset=utf-8');
      },
    },
    {
      method: 'GET',
      path: '/contiv/v1/cluster/events',
      mutating: false,
      isStream: true,
      summary: 'processed events of another node, live; this node asks for them',
      query: {
        node: { description: 'name of the other node', isRequired: true },
        after: { description: 'as of GET /controller/events' },
        last: { description: 'as of GET /controller/events' },
      },
      replyTypes: ['text/event-stream'],
      handle: (request) => {
        const given = { after: argument(request, 'after'), last: argument(request, 'last') };
        const query = Object.entries(given).filter(
          (entry): entry is [string, string] => entry[1] !== undefined,
        );
        const asked: NodeRequest = {
          method: 'GET',
          path: `controller/events?${new URLSearchParams(query)}`,
          accept: 'text/event-stream',
          silenceMs: STREAM_SILENCE_MS,
        };
        return relay(agents, request, asked, streams, 'text/event-stream; charset=utf-8');
      },
    },
  ];
}

/** This node first, the others by ID. */
async function matchingNodes(
  agents: OtherAgents,
  { label, clock }: Pick<ClusterRoutesDeps, 'label' | 'clock'>,
  isFound: (texts: Iterable<string>) => boolean,
): Promise<readonly KnownNode[]> {
  const slices = new Slices(clock);
  const found: KnownNode[] = [];
  await slices.each(agents.all(), (node) => {
    if (isFound([node.name, String(node.id ?? '')])) found.push(node);
  });
  const rank = ({ id = 0, name }: KnownNode): number => (name === label ? 0 : id);
  return sortInSlices(found, (a, b) => rank(a) - rank(b), slices);
}

/**
 * The bytes of the other agent with a content type of this one: what another node sends is never a page or a script.
 */
async function relay(
  agents: OtherAgents,
  request: RouteRequest,
  asked: NodeRequest,
  places: Places,
  contentType: string,
): Promise<RouteResponse> {
  const name = argument(request, 'node');
  if (name === undefined) throw new BadRequestError('argument node is missing');
  const ended = new AbortController();
  const { client, node } = agents.find(name, request.authorization, ended.signal);
  const leave = places.take();
  const body = new RelayedBody(client.read(node, asked), () => {
    ended.abort();
    leave();
  });
  try {
    await body.begin();
  } catch (thrown) {
    return refusal(thrown);
  }
  return { status: 200, body, contentType, headers: { 'Cache-Control': 'no-store' } };
}

/** Limits what waits for other nodes. */
class Places {
  readonly #most: number;
  readonly #what: string;
  #taken = 0;

  constructor(most: number, what: string) {
    this.#most = most;
    this.#what = what;
  }

  /**
   * @returns frees the place
   * @throws BusyError
   */
  take(): () => void {
    if (this.#taken >= this.#most) throw new BusyError(`${this.#most} ${this.#what}`);
    this.#taken++;
    let isTaken = true;
    return () => {
      if (isTaken) this.#taken--;
      isTaken = false;
    };
  }
}
