import type { ServiceName } from '../rendered-service.ts';

/** Which services have a name, for example an address of an endpoint. */
export class ServiceIndex {
  readonly #services = new Map<string, Set<ServiceName>>();
  readonly #names = new Map<ServiceName, readonly string[]>();

  of(name: string): ReadonlySet<ServiceName> {
    return this.#services.get(name) ?? none;
  }

  /** Replaces the names of a service. */
  replace(service: ServiceName, names: readonly string[]): void {
    for (const name of this.#names.get(service) ?? []) {
      const services = this.#services.get(name);
      services?.delete(service);
      if (services?.size === 0) this.#services.delete(name);
    }
    if (names.length === 0) this.#names.delete(service);
    else this.#names.set(service, names);
    for (const name of names) {
      const services = this.#services.get(name);
      if (services === undefined) this.#services.set(name, new Set([service]));
      else services.add(service);
    }
  }
}

const none: ReadonlySet<ServiceName> = new Set();
