/**
 * Pods, services and policies by traces through the state that VPP and the kernel have, between pods that are there:
 * each trace has to end as the policies decide. The two know nothing of each other, so a wrong ACL, route or backend
 * shows as a difference.
 */
import { Connection, Endpoint, PairDocument } from '#documents/connectivity.ts';
import { NodeSnapshot } from '#documents/node-snapshot.ts';
import { type ServiceAddressSummary, ServiceList } from '#documents/services.ts';
import { isNodeSnapshot, type NodeSnapshot as Snapshot } from '#packet-trace/node-document.ts';
import type { Packet } from '#packet-trace/packet.ts';
import { podAddress, tracePair } from '#packet-trace/pair-trace.ts';
import type { PacketTrace } from '#packet-trace/tracer.ts';
import type { ClusterNode, CommandContext } from '../command.ts';
import { inForm } from '../requests/agent-document.ts';
import { askItems } from '../requests/item-stream.ts';
import { askIfKnown, askRoute } from '../requests/missing.ts';
import { failed, passed, skipped, type TestCase } from './test-case.ts';

type Protocol = 'TCP' | 'UDP';

/** Of each node. */
const MAX_PODS = 3;
/** From each node; those that follow it, so that each is the destination of some. */
const MAX_PEERS = 5;
const MAX_SERVICES = 50;
const MAX_CONNECTIONS = 200;
/** Discard: a port that few policies permit. */
const UNUSUAL_PORT = 9;
/** For pods that policies permit all. */
const USUAL_PORT = 8080;

interface Pod {
  readonly name: string;
  readonly address: string;
  readonly node: ClusterNode;
}

export async function testByTraces(
  context: CommandContext,
  nodes: readonly ClusterNode[],
): Promise<readonly TestCase[]> {
  const replies = await context.askAll(nodes, (node) =>
    askRoute(context, node, 'trace/node?view=SB', NodeSnapshot),
  );
  const snapshots = replies.map(({ value }) => value).filter(isNodeSnapshot);
  const pods = replies.flatMap(({ node, value }) =>
    Object.entries(value?.pods ?? {})
      .slice(0, MAX_PODS)
      .map(([name, address]) => ({ name, address, node })),
  );
  const answered = replies.map(({ node, failure }) =>
    failure === undefined
      ? passed('node answers', node.name, '', 'yes')
      : failed('node answers', node.name, '', failure.text, failure.remedy),
  );
  if (pods.length === 0) return [...answered, skipped('pod to pod', 'no pods are attached', '')];
  const alive = replies.flatMap(({ node, failure }) => (failure === undefined ? [node] : []));
  const traced = new TracedTest(context, snapshots);
  return [
    ...answered,
    ...(await traced.permitted(alive)),
    ...(await traced.unusual(pods, alive)),
    ...(await traced.services(pods)),
  ];
}

class TracedTest {
  readonly #context: CommandContext;
  readonly #snapshots: readonly Snapshot[];

  constructor(context: CommandContext, snapshots: readonly Snapshot[]) {
    this.#context = context;
    this.#snapshots = snapshots;
  }

  /** Connections that policies permit: as many as a test may try. */
  async permitted(nodes: readonly ClusterNode[]): Promise<readonly TestCase[]> {
    const { node, connections, podsOf } = await this.#connections(nodes);
    const cases: TestCase[] = [];
    for (const { from, to, ports } of connections) {
      const [source, destination] = [podsOf.get(from)?.[0], podsOf.get(to)?.at(-1)];
      const port = ports.startsWith('All') ? USUAL_PORT : Number(/TCP (\d+)/.exec(ports)?.[1] ?? 0);
      if (source === undefined || destination === undefined || source === destination || port === 0)
        continue;
      const [start, end] = [
        podAddress(this.#snapshots, source),
        podAddress(this.#snapshots, destination),
      ];
      if (start === undefined || end === undefined) continue;
      const asked = { protocol: 'TCP' as const, port, sourcePort: undefined };
      for (const path of tracePair(this.#snapshots, start, end, asked)?.paths ?? [])
        cases.push(compared('policy permits', source, `${destination}:${port}`, 'permitted', path));
      this.#context.progress(`${cases.length} connections that ${node} permits`);
    }
    return cases;
  }

  /** Of the first node that answers: each knows the whole cluster. */
  async #connections(nodes: readonly ClusterNode[]): Promise<{
    node: string;
    connections: readonly Connection[];
    podsOf: ReadonlyMap<string, readonly string[]>;
  }> {
    const podsOf = new Map<string, readonly string[]>();
    const connections: Connection[] = [];
    const [node] = nodes;
    if (node === undefined) return { node: '', connections, podsOf };
    const path = 'contiv/v1/policy/connectivity';
    for await (const { field, value } of askItems(this.#context, node, path, 'connections')) {
      if (field === 'endpoints') {
        const { name, pods = [] } = inForm(Endpoint, value);
        podsOf.set(name, pods);
      }
      if (field !== 'connections') continue;
      connections.push(inForm(Connection, value));
      if (connections.length >= MAX_CONNECTIONS) break;
    }
    return { node: node.name, connections, podsOf };
  }

  /** A port that hardly any policy permits, between pods of the nodes. */
  async unusual(pods: readonly Pod[], nodes: readonly ClusterNode[]): Promise<readonly TestCase[]> {
    const cases: TestCase[] = [];
    for (const [at, node] of nodes.entries()) {
      const peers = [...nodes.slice(at), ...nodes.slice(0, at)].slice(0, MAX_PEERS);
      for (const from of pods.filter((pod) => pod.node === node))
        for (const to of pods.filter((pod) => peers.includes(pod.node) && pod !== from))
          cases.push(...(await this.#pair(from, to)));
      this.#context.progress(`${at + 1} of ${nodes.length} nodes: pods`);
    }
    return cases;
  }

  async #pair(from: Pod, to: Pod): Promise<readonly TestCase[]> {
    const verdict = await this.#verdict(from, to.name, `TCP/${UNUSUAL_PORT}`);
    if (verdict === undefined)
      return [skipped('policy denies', `${from.name} or ${to.name} is not known to policies`, '')];
    const check = verdict === 'permitted' ? 'policy permits' : 'policy denies';
    const ports = { protocol: 'TCP' as const, port: UNUSUAL_PORT, sourcePort: undefined };
    const traced = tracePair(this.#snapshots, from.address, to.address, ports);
    return (traced?.paths ?? []).map((path) =>
      compared(check, from.name, `${to.name}:${UNUSUAL_PORT}`, verdict, path),
    );
  }

  /** The cluster addresses of the services, from one pod of each node. */
  async services(pods: readonly Pod[]): Promise<readonly TestCase[]> {
    const cases: TestCase[] = [];
    const sources = [...Map.groupBy(pods, ({ node }) => node).values()].map((its) => its[0]!);
    for (const from of sources) {
      const services = await askRoute(this.#context, from.node, 'contiv/v1/services', ServiceList);
      this.#context.progress(`services from ${from.node.name}`);
      for (const { name, addresses } of services.slice(0, MAX_SERVICES))
        for (const address of addresses) {
          const { kind, protocol, backends } = address;
          if (kind === 'cluster-ip' && backends.length > 0 && isTraced(protocol))
            cases.push(await this.#service(from, name, address, protocol));
        }
    }
    return cases;
  }

  /** Its paths lead to the backends that policies permit, and to no other. */
  async #service(
    from: Pod,
    name: string,
    { address, port, backends }: ServiceAddressSummary,
    protocol: Protocol,
  ): Promise<TestCase> {
    const ports = { protocol, port, sourcePort: undefined };
    const paths = tracePair(this.#snapshots, from.address, address, ports)?.paths ?? [];
    const reached = new Set(
      paths
        .filter(({ reply }) => reply?.verdict === 'delivered')
        .map(({ trace }) => backendText(trace.packet)),
    );
    const permitted = new Set<string>();
    for (const backend of backends) {
      const [, host = '', at] = /^\[?(.+?)\]?:(\d+)$/.exec(backend) ?? [];
      const verdict = await this.#verdict(from, host, `${protocol}/${at}`);
      if (verdict === 'permitted') permitted.add(backend);
    }
    const to = `${name}:${port}`;
    const check = permitted.size > 0 ? 'service' : 'policy denies, by a service';
    const missed = [...permitted].filter((one) => !reached.has(one));
    const wrong = [...reached].filter((one) => !permitted.has(one));
    if (wrong.length > 0)
      return failed(check, from.name, to, `delivered to ${wrong.join(', ')}`, REMEDY);
    if (missed.length > 0) {
      const dropped = paths.find(({ reply }) => reply?.verdict !== 'delivered');
      const why = dropped === undefined ? 'no path leads there' : lastHop(dropped);
      return failed(check, from.name, to, `not delivered to ${missed.join(', ')}: ${why}`, REMEDY);
    }
    const found = permitted.size > 0 ? `delivered to ${permitted.size} of ${backends.length}` : '';
    return passed(check, from.name, to, found || 'dropped');
  }

  /** @returns undefined: the node does not know one of the pods from Kubernetes */
  async #verdict(from: Pod, to: string, port: string): Promise<string | undefined> {
    const query = new URLSearchParams({ from: from.name, to, port });
    const path = `contiv/v1/policy/connectivity?${query}`;
    return (await askIfKnown(this.#context, from.node, path, PairDocument))?.verdict;
  }
}

function isTraced(protocol: string): protocol is Protocol {
  return protocol === 'TCP' || protocol === 'UDP';
}

const REMEDY = 'netctl trace follows it hop by hop; netctl plan lists what differs on a node.';

interface Path {
  readonly trace: PacketTrace;
  readonly reply: PacketTrace | undefined;
}

function compared(check: string, from: string, to: string, verdict: string, path: Path): TestCase {
  const isDelivered = path.reply?.verdict === 'delivered';
  if (verdict === 'permitted')
    return isDelivered
      ? passed(check, from, to, 'delivered, and the reply')
      : failed(check, from, to, lastHop(path), REMEDY);
  return isDelivered
    ? failed(check, from, to, 'delivered, which policies deny', REMEDY)
    : passed(check, from, to, 'dropped');
}

function lastHop({ trace, reply }: Path): string {
  return (reply ?? trace).hops.at(-1)?.description ?? 'no hop';
}

function backendText({ destination, destinationPort }: Packet): string {
  const host = destination.includes(':') ? `[${destination}]` : destination;
  return `${host}:${destinationPort}`;
}
