import type { Slices } from '#infra/clock/slices.ts';
import type { RenderedService, ServiceApi, ServiceName } from '#plugins/service/api.ts';
import { addressNumber } from './address-set.ts';
import type { MasqueradedAddress } from './renderer.ts';

type Backends = RenderedService['addresses'][number]['backends'];

/** The services with addresses at which VPP may replace the source of clients. */
export class MasqueradedServices {
  readonly #services: Pick<ServiceApi, 'renderedServices'>;
  readonly #found = new Map<ServiceName, readonly MasqueradedAddress[]>();

  constructor(services: Pick<ServiceApi, 'renderedServices'>) {
    this.#services = services;
  }

  all(): ReadonlyMap<ServiceName, readonly MasqueradedAddress[]> {
    return this.#found;
  }

  /** Reads all services. */
  async resync(slices: Slices): Promise<void> {
    this.#found.clear();
    for (const [name, service] of this.#services.renderedServices()) {
      this.#set(name, service);
      if (slices.due()) await slices.turn();
    }
  }

  /**
   * @param services those that have changed; undefined: it is not rendered any more
   * @returns those of them that have such addresses, or had some
   */
  change(
    services: ReadonlyMap<ServiceName, RenderedService | undefined>,
  ): ReadonlyMap<ServiceName, readonly MasqueradedAddress[]> {
    const changed = new Map<ServiceName, readonly MasqueradedAddress[]>();
    for (const [name, service] of services) {
      const isKnown = this.#found.has(name);
      const found = this.#set(name, service);
      if (isKnown || found.length > 0) changed.set(name, found);
    }
    return changed;
  }

  #set(name: ServiceName, service: RenderedService | undefined): readonly MasqueradedAddress[] {
    const found = service === undefined ? [] : masqueradedAddresses(service);
    if (found.length > 0) this.#found.set(name, found);
    else this.#found.delete(name);
    return found;
  }
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
