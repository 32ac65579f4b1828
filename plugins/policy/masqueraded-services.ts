/** The services with addresses at which VPP may replace the source of clients. */
import type { Slices } from '#infra/clock/slices.ts';
import type { RenderedService, ServiceName } from '#plugins/service/api.ts';
import { addressNumber } from './address-set.ts';
import type { MasqueradedAddress } from './rendered-state.ts';

export type MasqueradedServices = ReadonlyMap<ServiceName, readonly MasqueradedAddress[]>;

type Backends = RenderedService['addresses'][number]['backends'];

export async function masqueradedServices(
  services: ReadonlyMap<ServiceName, RenderedService>,
  slices: Slices,
): Promise<MasqueradedServices> {
  const found = new Map<ServiceName, readonly MasqueradedAddress[]>();
  for (const [name, service] of services) {
    const addresses = masqueradedAddresses(service);
    if (addresses.length > 0) found.set(name, addresses);
    if (slices.due()) await slices.turn();
  }
  return found;
}

/**
 * @param before those that have such addresses
 * @param services those that have changed; undefined: it is not rendered any more
 * @returns those of them that have such addresses, or had some: these have an empty list
 */
export function masqueradedChanges(
  before: MasqueradedServices,
  services: ReadonlyMap<ServiceName, RenderedService | undefined>,
): MasqueradedServices {
  const changed = new Map<ServiceName, readonly MasqueradedAddress[]>();
  for (const [name, service] of services) {
    const addresses = service === undefined ? [] : masqueradedAddresses(service);
    if (addresses.length > 0 || before.has(name)) changed.set(name, addresses);
  }
  return changed;
}

/** Addresses of one port share their list of backends. */
function masqueradedAddresses({ addresses }: RenderedService): readonly MasqueradedAddress[] {
  const lists = new Map<Backends, MasqueradedAddress['backends']>();
  return addresses.flatMap((one): MasqueradedAddress[] => {
    const { address, port, protocol, backends, replacesClient } = one;
    const isReplaced = replacesClient || backends.some(({ place }) => place !== 'pod');
    if (!isReplaced || backends.length === 0) return [];
    const list = lists.get(backends) ?? backends.flatMap(numbered);
    lists.set(backends, list);
    return [{ address, port, protocol, backends: list }];
  });
}

function numbered({ address: text, port }: Backends[number]): MasqueradedAddress['backends'] {
  const address = addressNumber(text);
  return address === undefined ? [] : [{ address, port }];
}
