import { defineModel } from '#models/define.ts';
import type { Rules } from '#models/rules.ts';
import { type EndpointSubsetEndpointAddress, Endpoints } from './endpoints.gen.ts';
import { namespacedKey } from './keys.ts';
import { addressOrText } from './shared-rules.ts';

export type {
  EndpointSubset,
  EndpointSubsetEndpointAddress as EndpointAddress,
  EndpointSubsetEndpointPort as EndpointPort,
  Endpoints,
  ObjectReference,
} from './endpoints.gen.ts';

export const endpointsKey = namespacedKey('endpoints');

const address: Rules<EndpointSubsetEndpointAddress> = { ip: addressOrText };

export const endpointsModel = defineModel<Endpoints>({
  message: Endpoints,
  keyPrefix: endpointsKey.prefix(),
  key: ({ name, namespace }) => endpointsKey.build({ name, namespace }),
  rules: { endpoint_subsets: { addresses: address, not_ready_addresses: address } },
});
