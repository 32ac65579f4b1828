/** The endpoints of a service by its ports, from its Endpoints value. */
import { atOnce, type Steps } from '#infra/clock/steps.ts';
import type { EndpointAddress, EndpointPort, Endpoints } from '#kubernetes/models/endpoints.ts';
import { type IpFamily, ipFamily, parseIp } from '#models/ip.ts';
import { addressRefusal } from '#plugins/nodesync/api.ts';
import type { ServiceName } from '../rendered-service.ts';
import { type EndpointLocation, isPort, type NodeView } from './local-node.ts';

/** `terminating`: it still serves, and is used if no other one is ready. Listed from best to worst. */
export type EndpointState = 'ready' | 'terminating' | 'not-ready';

const rank: Readonly<Record<EndpointState, number>> = { ready: 0, terminating: 1, 'not-ready': 2 };

export interface Endpoint extends EndpointLocation {
  readonly address: string;
  readonly port: number;
  readonly state: EndpointState;
  /** `<namespace>/<name>`; empty: it is not a pod. */
  readonly pod: string;
  readonly forZones: readonly string[];
  readonly forNodes: readonly string[];
}

export interface EndpointList {
  /** By `portKey`; each address and port once. */
  readonly byPort: ReadonlyMap<string, readonly Endpoint[]>;
  /** Why endpoints in the record cannot be used. */
  readonly problems: readonly string[];
  /** Endpoints that are not used because they are cluster IPs. */
  readonly clusterIps: readonly string[];
}

/** Input besides the record. */
export interface EndpointContext {
  readonly node: NodeView;
  /** The service with this cluster IP: a translated packet is not translated again. */
  clusterIpOf(address: string): ServiceName | undefined;
}

/** Identifies a port of a service in one family: a name may be empty. An address has backends of its own family alone. */
export function portKey(family: IpFamily, name: string, protocol: string): string {
  return `IPv${family} ${protocol || 'TCP'} ${name}`;
}

export const noEndpoints: EndpointList = {
  byPort: new Map(),
  problems: [],
  clusterIps: [],
};

/** Addresses in one step. */
const STEP = 256;

export function endpointList(record: Endpoints, context: EndpointContext): EndpointList {
  return atOnce(endpointListInSteps(record, context));
}

export function* endpointListInSteps(
  record: Endpoints,
  context: EndpointContext,
): Steps<EndpointList> {
  const list: GrowingList = { byPort: new Map(), problems: [], clusterIps: [] };
  for (const { ports, addresses, not_ready_addresses } of record.endpoint_subsets) {
    const valid = ports.filter(({ port }) => {
      if (!isPort(port)) list.problems.push(`${port} is not the port of an endpoint`);
      return isPort(port);
    });
    for (const [at, address] of addresses.entries()) {
      if (at % STEP === STEP - 1) yield;
      add(list, valid, address, 'ready', context);
    }
    for (const [at, address] of not_ready_addresses.entries()) {
      if (at % STEP === STEP - 1) yield;
      const state = address.serving_while_terminating ? 'terminating' : 'not-ready';
      add(list, valid, address, state, context);
    }
  }
  const { byPort, problems, clusterIps } = list;
  return {
    byPort: new Map([...byPort].map(([key, endpoints]) => [key, [...endpoints.values()]])),
    problems,
    clusterIps,
  };
}

interface GrowingList {
  readonly byPort: Map<string, Map<string, Endpoint>>;
  readonly problems: string[];
  readonly clusterIps: string[];
}

function add(
  list: GrowingList,
  ports: readonly EndpointPort[],
  one: EndpointAddress,
  state: EndpointState,
  context: EndpointContext,
): void {
  const { node } = context;
  const { byPort } = list;
  const bytes = parseIp(one.ip);
  const unusable = node.whyNot('endpoint', bytes);
  if (bytes === undefined || unusable !== undefined) {
    list.problems.push(`endpoint "${one.ip}" ${unusable}`);
    return;
  }
  const family = ipFamily(bytes);
  if (!node.families.includes(family)) return;
  const service = context.clusterIpOf(one.ip);
  if (service !== undefined) {
    list.clusterIps.push(one.ip);
    const { phrase } = addressRefusal('cluster IP of a service', service);
    list.problems.push(`endpoint "${one.ip}" ${phrase}`);
    return;
  }
  const { ip: address, target_ref: target } = one;
  const location = node.locate(bytes, address, one.node_name);
  const pod = target?.kind === 'Pod' ? `${target.namespace}/${target.name}` : '';
  for (const { name, protocol, port } of ports) {
    const key = portKey(family, name, protocol);
    let endpoints = byPort.get(key);
    if (endpoints === undefined) {
      endpoints = new Map();
      byPort.set(key, endpoints);
    }
    const id = `${address} ${port}`;
    const known = endpoints.get(id);
    if (known !== undefined && rank[known.state] <= rank[state]) continue;
    endpoints.set(id, {
      address,
      port,
      state,
      ...location,
      pod,
      forZones: one.for_zones,
      forNodes: one.for_nodes,
    });
  }
}
