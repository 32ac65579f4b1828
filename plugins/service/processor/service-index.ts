import type { ServiceName } from '../rendered-service.ts';

/** Which services have a name, for example an address of an endpoint. */
export class ServiceIndex {
  readonly #services = new Map<string, Set<ServiceName>>();
  readonly #names = new Map<ServiceName, readonly string[]>();

  of(name: string): ReadonlySet<ServiceName> {
    return this.#services.get(name) ?? none;
  }

  /**
   * Replaces the names of a service.
   * @returns those that it has got or lost
   */
  replace(service: ServiceName, names: readonly string[]): readonly string[] {
    const before = this.#names.get(service) ?? [];
    for (const name of before) {
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
    return [
      ...before.filter((name) => !names.includes(name)),
      ...names.filter((name) => !before.includes(name)),
    ];
  }
}

const none: ReadonlySet<ServiceName> = new Set();
