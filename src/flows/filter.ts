import type { Flow, FlowEnd } from '#documents/flows.ts';
import type { FlowRecord } from './flow-ring.ts';

/** Ends are named as `<namespace>/<name>` of a pod, workload or service, name of a node, or address. */
export interface FlowQuery {
  /** Of the client, the server or the service. */
  readonly pod: string | undefined;
  readonly from: string | undefined;
  /** Of the server or the service. */
  readonly to: string | undefined;
  /** Empty: all. */
  readonly verdicts: readonly string[];
  /** Empty: all. */
  readonly protocols: readonly string[];
  /** Of the server or the service. */
  readonly port: number | undefined;
  /** Milliseconds since the epoch: only records that have changed since then. */
  readonly since: number | undefined;
}

export type FlowFilter = (record: FlowRecord) => boolean;

export function flowFilter(query: FlowQuery): FlowFilter {
  const { pod, from, to, verdicts, protocols, port, since = 0 } = query;
  return ({ flow, changedAt }) =>
    changedAt >= since &&
    (verdicts.length === 0 || verdicts.includes(flow.verdict)) &&
    (protocols.length === 0 || protocols.includes(flow.protocol)) &&
    (from === undefined || isNamed(flow.client, from)) &&
    (to === undefined || isServer(flow, to)) &&
    (pod === undefined || isNamed(flow.client, pod) || isServer(flow, pod)) &&
    (port === undefined || flow.server.port === port || flow.service?.port === port);
}

function isServer({ server, service }: Flow, name: string): boolean {
  return isNamed(server, name) || service?.name === name || service?.address === name;
}

function isNamed({ address, name, workload }: FlowEnd, asked: string): boolean {
  return name === asked || workload === asked || address === asked;
}
