import type { RenderedService, ServiceApi, ServiceName } from '#plugins/service/api.ts';
import type { OutsideService } from './renderer.ts';

/** Addresses of services at which VPP replaces the source of clients. */
export class OutsideServices {
  readonly #services: Pick<ServiceApi, 'renderedServices'>;
  readonly #found = new Map<ServiceName, readonly OutsideService[]>();
  /** undefined: a service has changed since. */
  #all: readonly OutsideService[] | undefined;

  constructor(services: Pick<ServiceApi, 'renderedServices'>) {
    this.#services = services;
  }

  /** In the order of the names of the services. */
  all(): readonly OutsideService[] {
    this.#all ??= [...this.#found]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, found]) => found);
    return this.#all;
  }

  /** Reads all services. */
  resync(): void {
    this.#found.clear();
    this.#all = undefined;
    for (const [name, service] of this.#services.renderedServices()) this.#set(name, service);
  }

  /** @param services those that have changed; undefined: it is not rendered any more */
  change(services: ReadonlyMap<ServiceName, RenderedService | undefined>): void {
    for (const [name, service] of services) this.#set(name, service);
  }

  #set(name: ServiceName, service: RenderedService | undefined): void {
    const found = (service?.addresses ?? []).flatMap((one): OutsideService[] => {
      const { address, port, protocol, backends, replacesClient } = one;
      const isReplaced = replacesClient || backends.some(({ place }) => place !== 'pod');
      return isReplaced && backends.length > 0 ? [{ address, port, protocol, backends }] : [];
    });
    if (found.length === 0 && !this.#found.has(name)) return;
    this.#all = undefined;
    if (found.length > 0) this.#found.set(name, found);
    else this.#found.delete(name);
  }
}
