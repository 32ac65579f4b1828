/** A rendered service as a value of the kernel: what sockets of this node get for the addresses of the service. */
import {
  type SocketServiceMapping,
  socketServiceKey,
  socketServiceModel,
} from '#models/linux/socket-service.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import type { Backend, RenderedService, ServiceAddress, ServiceName } from '../rendered-service.ts';

/** Key of the value with the mappings of a service. */
export function socketKey(service: ServiceName): string {
  return socketServiceKey.build({ name: service });
}

/**
 * All addresses, with any number of backends. Addresses with the same backends are one mapping.
 * @param localWeight share of a backend on this node, when one on another node has 1
 */
export function socketValue({ name, addresses }: RenderedService, localWeight: number): KeyValue {
  const mappings = new Map<string, SocketServiceMapping>();
  for (const one of addresses) {
    const { address, port, protocol, affinityTimeout } = one;
    const backends = backendsOf(one).map((backend) => ({
      address: backend.address,
      port: backend.port,
      weight: backend.isLocal ? localWeight : 1,
    }));
    const ends = backends.map((backend) => `${backend.address} ${backend.port}`);
    const key = `${affinityTimeout} ${ends.join(', ')}`;
    const mapping = mappings.get(key) ?? {
      frontends: [],
      backends,
      affinity_timeout: affinityTimeout,
    };
    mappings.set(key, {
      ...mapping,
      frontends: [...mapping.frontends, { address, port, protocol }],
    });
  }
  return keyValue(socketServiceModel, { name, mappings: [...mappings.values()] });
}

/** For clients in the cluster `externalTrafficPolicy: Local` chooses no backends. */
function backendsOf({ backends, backendsInside = backends }: ServiceAddress): readonly Backend[] {
  return backendsInside;
}
