/** The connections that were opened, for comparison with policies: each once in the cluster, although both ends have a record. */
import type { Flow, FlowEnd } from '#documents/flows.ts';

export interface SeenConnection {
  readonly flow: Flow;
  /** As policies know the ends: name of a pod, or address. */
  readonly from: string;
  readonly to: string;
  readonly protocol: Flow['protocol'];
  readonly port: number;
}

export type SeenAs = SeenConnection | 'unknown' | undefined;

/**
 * A connection with a client on a node of the cluster is that of the record there; one of a client outside, that of its server.
 * @returns `unknown`: VPP has chosen the server, or an address was shortened; undefined: it was not opened, or is that of another record
 */
export function seenConnection(flow: Flow): SeenAs {
  const { side, verdict, client, server, protocol } = flow;
  if (verdict !== 'open') return undefined;
  if (side === 'server' && client.kind !== 'outside') return undefined;
  if (server.kind === 'service' || server.port === undefined) return 'unknown';
  const [from, to] = [nameOf(client), nameOf(server)];
  if ([client, server].some(({ address }) => address.includes('/'))) return 'unknown';
  return { flow, from, to, protocol, port: server.port };
}

function nameOf({ kind, name, address }: FlowEnd): string {
  return kind === 'pod' ? name : address;
}
