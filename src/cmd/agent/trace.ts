/**
 * `contiv-agent trace`: traces a packet from a pod, and its reply, through the node snapshots that
 * the agents serve.
 */
import { isIP } from 'node:net';
import { defineError, errorText } from '#infra/errors/errors.ts';
import { statusText } from '#infra/http/status-text.ts';
import { isNodeSnapshot, type NodeSnapshot } from '#packet-trace/node-document.ts';
import {
  pairTraceText,
  podAddress,
  type TracedPorts,
  tracePair,
} from '#packet-trace/pair-trace.ts';

export const TraceError = defineError({
  name: 'TraceError',
  code: 'CV_TRACE',
  remedy:
    'Write pods as namespace/name, and give the REST servers of all nodes with --agent, each as http://host:port.',
});

export interface TraceRequest extends TracedPorts {
  /** `<namespace>/<name>`, or `<name>` in the namespace default. */
  readonly from: string;
  /** A pod, or an address. */
  readonly to: string;
  /** REST servers of the agents of the nodes, such as `http://127.0.0.1:9999`. */
  readonly agents: readonly string[];
  /** Use the desired state instead of the actual state of VPP and Linux. */
  readonly desired: boolean;
}

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
  const source = addressOf(nodes, from);
  const traced = tracePair(nodes, source, addressOf(nodes, to), request);
  if (traced === undefined)
    throw new TraceError('no traced node has this address', { where: source });
  print(pairTraceText(from, to, traced));
  return traced.isDelivered;
}

async function fetchNode(agent: string, desired: boolean): Promise<NodeSnapshot> {
  try {
    const response = await fetch(new URL(`/trace/node?view=${desired ? 'NB' : 'SB'}`, agent));
    if (!response.ok) throw new Error(statusText(response.status, await response.text()));
    const document: unknown = await response.json();
    if (!isNodeSnapshot(document)) throw new Error('the reply is not a node snapshot');
    return document;
  } catch (cause) {
    const why = reasonOf(cause);
    throw new TraceError(`reading the node snapshot failed: ${why}`, { where: agent, cause });
  }
}

/** fetch hides why it failed, and a name with several addresses has a reason for each. */
function reasonOf(thrown: unknown): string {
  const hidden = thrown instanceof TypeError ? (thrown.cause ?? thrown) : thrown;
  return errorText(hidden instanceof AggregateError ? hidden.errors[0] : hidden);
}

function addressOf(nodes: readonly NodeSnapshot[], name: string): string {
  if (isIP(name)) return name;
  const id = name.includes('/') ? name : `default/${name}`;
  const address = podAddress(nodes, id);
  if (address !== undefined) return address;
  const names = nodes.map((node) => node.name).join(', ');
  throw new TraceError(`no pod with this name is attached to ${names}`, { where: id });
}
