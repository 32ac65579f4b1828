/** The services with addresses whose clients are checked where their packets enter. */
import type { Slices } from '#infra/clock/slices.ts';
import type { RenderedService, ServiceName } from '#plugins/service/api.ts';
import { AddressSet, addressNumber } from './address-set.ts';
import type { CheckedAddress } from './rendered-state.ts';

export type CheckedServices = ReadonlyMap<ServiceName, readonly CheckedAddress[]>;

type ServiceAddress = RenderedService['addresses'][number];
type Backends = ServiceAddress['backends'];

const noBackends: CheckedAddress['backends'] = [];

export async function checkedServices(
  services: ReadonlyMap<ServiceName, RenderedService>,
  slices: Slices,
): Promise<CheckedServices> {
  const found = new Map<ServiceName, readonly CheckedAddress[]>();
  for (const [name, service] of services) {
    const addresses = checkedAddresses(service);
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
export function checkedChanges(
  before: CheckedServices,
  services: ReadonlyMap<ServiceName, RenderedService | undefined>,
): CheckedServices {
  const changed = new Map<ServiceName, readonly CheckedAddress[]>();
  for (const [name, service] of services) {
    const addresses = service === undefined ? [] : checkedAddresses(service);
    if (addresses.length > 0 || before.has(name)) changed.set(name, addresses);
  }
  return changed;
}

/** Addresses of one port share their list of backends. */
function checkedAddresses({ addresses }: RenderedService): readonly CheckedAddress[] {
  const lists = new Map<Backends, CheckedAddress['backends']>();
  const backendsOf = ({ backends, replacesClient }: ServiceAddress) => {
    if (!replacesClient && backends.every(({ place }) => place === 'pod')) return noBackends;
    const list = lists.get(backends) ?? backends.flatMap(numbered);
    lists.set(backends, list);
    return list;
  };
  return addresses.flatMap((one): CheckedAddress[] => {
    const { address, port, protocol, clients } = one;
    const checked = { address, port, protocol, backends: backendsOf(one) };
    if (clients !== undefined) return [{ ...checked, clients: AddressSet.of(clients.ranges) }];
    return checked.backends.length > 0 ? [checked] : [];
  });
}

function numbered({ address: text, port }: Backends[number]): CheckedAddress['backends'] {
  const address = addressNumber(text);
  return address === undefined ? [] : [{ address, port }];
}
