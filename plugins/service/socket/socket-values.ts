/** A rendered service as a value of the kernel: what sockets of this node get for the addresses of the service. */
import { unspecifiedOf } from '#models/ip.ts';
import {
  type SocketServiceFrontend,
  type SocketServiceMapping,
  socketServiceKey,
  socketServiceModel,
} from '#models/linux/socket-service.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { familyOfAddress } from '#plugins/ipam/api.ts';
import {
  type Backend,
  hasEndpoints,
  keepsClient,
  type RenderedService,
  type ServiceAddress,
  type ServiceName,
} from '../rendered-service.ts';

/** Key of the value with the mappings of a service. */
export function socketKey(service: ServiceName): string {
  return socketServiceKey.build({ name: service });
}

/** Properties of this node on which the values depend. */
export interface SocketRendering {
  /** Share of a backend on this node, when one on another node has 1. */
  readonly localWeight: number;
  /** Addresses that processes of the host have as their own where clients keep theirs; none of a family: that of the link to VPP. */
  readonly hostSources: readonly string[];
}

/**
 * All addresses, with any number of backends. Addresses with the same backends are one mapping. A node port is one
 * frontend for all addresses of this node, and one for those of other nodes, or one for each address of another node that
 * has backends of its own there.
 */
export function socketValue(
  { name, addresses, atOtherNodes = [] }: RenderedService,
  { localWeight, hostSources }: SocketRendering,
): KeyValue {
  const mappings = new Map<string, SocketServiceMapping>();
  const frontends = new Map<string, Map<string, SocketServiceFrontend>>();
  const hostSource = (asked: string): string =>
    hostSources.find((one) => familyOfAddress(one) === familyOfAddress(asked)) ?? '';
  const asked = [
    ...addresses.map((one) => ({
      affinityTimeout: one.affinityTimeout,
      forwarded: backendsAtSockets(one),
      reachedBy: frontendsOf(one),
      host_source: keepsClient(one) ? hostSource(one.address) : '',
    })),
    ...atOtherNodes.map(({ address, port, protocol, affinityTimeout, backends }) => ({
      affinityTimeout,
      forwarded: backends,
      reachedBy: [{ address, port, protocol, scope: 'ADDRESS' } as const],
      host_source: hostSource(address),
    })),
  ];
  const textOf = textsOfBackends();
  for (const { affinityTimeout, forwarded, reachedBy, host_source } of asked) {
    const backends = forwarded.map((backend) => ({
      address: backend.address,
      port: backend.port,
      weight: backend.isLocal ? localWeight : 1,
    }));
    const key = `${affinityTimeout} ${host_source} ${textOf(forwarded)}`;
    const own = frontends.get(key) ?? new Map<string, SocketServiceFrontend>();
    frontends.set(key, own);
    for (const frontend of reachedBy) own.set(Object.values(frontend).join(), frontend);
    mappings.set(key, {
      frontends: [...own.values()],
      backends,
      affinity_timeout: affinityTimeout,
      host_source,
    });
  }
  return keyValue(socketServiceModel, { name, mappings: [...mappings.values()] });
}

/** The addresses of a port share one list, which may have thousands of backends. */
function textsOfBackends(): (backends: readonly Backend[]) => string {
  const texts = new Map<readonly Backend[], string>();
  return (backends) => {
    const text =
      texts.get(backends) ?? backends.map(({ address, port }) => `${address} ${port}`).join(', ');
    texts.set(backends, text);
    return text;
  };
}

/**
 * For clients in the cluster `externalTrafficPolicy: Local` chooses no backends. A socket does not know its address yet:
 * an address that some of the pods may not use refuses all of them.
 */
export function backendsAtSockets(one: ServiceAddress): readonly Backend[] {
  const { backends, backendsInside = backends, clients } = one;
  return clients === undefined || clients.pods === 'all' ? backendsInside : [];
}

/** Sentences about what is not carried. */
export function socketLimitsOf({ addresses }: RenderedService): string[] {
  const refused = addresses.filter(({ clients }) => clients?.pods === 'some');
  return refused.map(
    ({ address, port, protocol }) =>
      `${address} ${protocol} port ${port}: all pods and the host of this node are refused, ` +
      'because loadBalancerSourceRanges contain a part of its pods',
  );
}

/** With `externalTrafficPolicy: Local` the ports of other nodes have other backends; if there are none, all refuse. */
function frontendsOf(one: ServiceAddress): SocketServiceFrontend[] {
  const { kind, address, port, protocol, backendsInside } = one;
  if (kind !== 'node-port') return [{ address, port, protocol, scope: 'ADDRESS' }];
  const ofNode = (scope: SocketServiceFrontend['scope']): SocketServiceFrontend => ({
    address: unspecifiedOf(address),
    port,
    protocol,
    scope,
  });
  return backendsInside === undefined || !hasEndpoints(one)
    ? [ofNode('THIS_NODE'), ofNode('OTHER_NODES')]
    : [ofNode('THIS_NODE')];
}
