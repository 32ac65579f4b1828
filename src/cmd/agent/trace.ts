/**
 * `contiv-agent trace`: traces a packet from a pod, and its reply, through the node snapshots that
 * the agents serve.
 */
import { isIP } from 'node:net';
import { defineError, errorText } from '#infra/errors/errors.ts';
import { traceBranches } from '#packet-trace/branches.ts';
import { clusterSnapshot, deviceByAddress } from '#packet-trace/cluster.ts';
import type { NodeValues } from '#packet-trace/node.ts';
import { type Packet, type Protocol, replyTo } from '#packet-trace/packet.ts';
import { traceText } from '#packet-trace/trace-text.ts';
import { tracePacket } from '#packet-trace/tracer.ts';
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
  /** Undefined: only addresses are traced, without NAT. */
  readonly protocol: Protocol | undefined;
  readonly port: number | undefined;
  readonly sourcePort: number | undefined;
  /** REST servers of the agents of the nodes, such as `http://127.0.0.1:9999`. */
  readonly agents: readonly string[];
  /** Use the desired state instead of the actual state of VPP and Linux. */
  readonly desired: boolean;
}

/** Of the ports that clients use. */
const SOURCE_PORT = 49_152;

/**
 * @returns whether packet and reply arrive, whichever backend of a service is chosen
 * @throws TraceError for an agent that does not answer and for an unknown pod
 */
export async function trace(
  request: TraceRequest,
  print: (text: string) => void,
): Promise<boolean> {
  const { from, to, agents, desired } = request;
  const nodes = await Promise.all(agents.map((agent) => fetchNode(agent, desired)));
  const snapshot = clusterSnapshot({ nodes: nodes.map(nodeValues) });
  const packet = packetOf(request, addressOf(nodes, from), addressOf(nodes, to));
  const { source, destination } = packet;
  const start = deviceByAddress(snapshot, source);
  if (start === undefined)
    throw new TraceError('no traced node has this address', { where: source });
  print(`${from} (${source}) to ${to} (${destination})${portText(packet)}\n`);
  const branches = traceBranches(snapshot, start, packet);
  let arrive = true;
  for (const [place, { share, trace: there, memory }] of branches.entries()) {
    const of = `${place + 1} of ${branches.length}, ${(share * 100).toFixed(1)} % of connections`;
    print(`${branches.length > 1 ? `path ${of}\n` : ''}${traceText(there)}`);
    if (there.verdict !== 'delivered') {
      arrive = false;
      continue;
    }
    const back = tracePacket(snapshot, there.device, replyTo(there.packet), { memory });
    print(`reply\n${traceText(back)}`);
    arrive &&= back.verdict === 'delivered';
  }
  return arrive;
}

function packetOf(
  { protocol, port, sourcePort = SOURCE_PORT }: TraceRequest,
  source: string,
  destination: string,
): Packet {
  if (protocol === undefined) return { source, destination };
  const destinationPort = protocol === 'ICMP' ? sourcePort : port;
  return { source, destination, protocol, sourcePort, destinationPort };
}

function portText({ protocol, destinationPort }: Packet): string {
  if (protocol === undefined) return '';
  return protocol === 'ICMP' ? ', ICMP echo' : `, ${protocol} port ${destinationPort}`;
}

export function nodeValues({ name, hostAddresses, values, actual }: NodeSnapshot): NodeValues {
  return { name, hostAddresses, values: Object.entries(values), actual };
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
