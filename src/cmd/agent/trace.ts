/**
 * `contiv-agent trace`: traces a packet from a pod, and its reply, through the node snapshots that
 * the agents serve.
 */
import { isIP } from 'node:net';
import { defineError, errorText } from '#infra/errors/errors.ts';
import { clusterSnapshot, deviceByAddress } from '#packet-trace/cluster.ts';
import type { NodeValues } from '#packet-trace/node.ts';
import type { Snapshot } from '#packet-trace/snapshot.ts';
import { traceText } from '#packet-trace/trace-text.ts';
import { type PacketTrace, tracePacket } from '#packet-trace/tracer.ts';
import type { NodeSnapshot } from './node-snapshot.ts';

export const TraceError = defineError({
  name: 'TraceError',
  code: 'CV_TRACE',
  remedy:
    'Write pods as namespace/name, and give the REST servers of all nodes with --agent, each as http://host:port.',
});

export interface TraceRequest {
  /** `<namespace>/<name>`, or `<name>` in the namespace default. */
  readonly from: string;
  /** A pod, or an address. */
  readonly to: string;
  /** TCP port of the destination; only printed so far: the trace does not evaluate NAT and ACLs. */
  readonly port: number | undefined;
  /** REST servers of the agents of the nodes, such as `http://127.0.0.1:9999`. */
  readonly agents: readonly string[];
  /** Use the desired state instead of the actual state of VPP and Linux. */
  readonly desired: boolean;
}

/**
 * @returns whether packet and reply arrive
 * @throws TraceError for an agent that does not answer and for an unknown pod
 */
export async function trace(
  { from, to, port, agents, desired }: TraceRequest,
  print: (text: string) => void,
): Promise<boolean> {
  const nodes = await Promise.all(agents.map((agent) => fetchNode(agent, desired)));
  const snapshot = clusterSnapshot({ nodes: nodes.map(nodeValues) });
  const source = addressOf(nodes, from);
  const destination = addressOf(nodes, to);
  const there = follow(snapshot, source, destination);
  const called = port === undefined ? '' : `, TCP port ${port} (NAT and ACLs are not evaluated)`;
  print(`${from} (${source}) to ${to} (${destination})${called}\n${traceText(there)}`);
  if (there.verdict !== 'delivered') return false;
  if (deviceByAddress(snapshot, destination) === undefined) return true;
  const back = follow(snapshot, destination, source);
  print(`reply\n${traceText(back)}`);
  return back.verdict === 'delivered';
}

export function nodeValues({ name, hostAddresses, values, actual }: NodeSnapshot): NodeValues {
  return { name, hostAddresses, values: Object.entries(values), actual };
}

function follow(snapshot: Snapshot, source: string, destination: string): PacketTrace {
  const start = deviceByAddress(snapshot, source);
  if (start === undefined)
    throw new TraceError('no traced node has this address', { where: source });
  return tracePacket(snapshot, start, { source, destination });
}

async function fetchNode(agent: string, desired: boolean): Promise<NodeSnapshot> {
  try {
    const response = await fetch(new URL(`/trace/node?view=${desired ? 'NB' : 'SB'}`, agent));
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    const document: unknown = await response.json();
    if (!isNodeSnapshot(document)) throw new Error('the reply is not a node snapshot');
    return document;
  } catch (cause) {
    const why = errorText(cause);
    throw new TraceError(`reading the node snapshot failed: ${why}`, { where: agent, cause });
  }
}

function isNodeSnapshot(value: unknown): value is NodeSnapshot {
  if (typeof value !== 'object' || value === null) return false;
  const { name, hostAddresses, pods, values } = value as Partial<Record<string, unknown>>;
  const areObjects = [pods, values].every((one) => typeof one === 'object' && one !== null);
  return typeof name === 'string' && Array.isArray(hostAddresses) && areObjects;
}

function addressOf(nodes: readonly NodeSnapshot[], name: string): string {
  if (isIP(name)) return name;
  const id = name.includes('/') ? name : `default/${name}`;
  for (const { pods } of nodes) {
    const address = pods[id];
    if (address !== undefined) return address;
  }
  const names = nodes.map((node) => node.name).join(', ');
  throw new TraceError(`no pod with this name is attached to ${names}`, { where: id });
}
