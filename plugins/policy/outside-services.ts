import { resources } from '#kubernetes/resources/resources.ts';
import type { KubeStateChangePayload } from '#plugins/controller/api/events.ts';
import type { RenderedService, ServiceApi, ServiceName } from '#plugins/service/api.ts';
import type { OutsideService } from './renderer.ts';

/** Resources of Kubernetes that decide about the backends of services. */
export const serviceResources: ReadonlySet<string> = new Set(['service', 'endpoints', 'node']);

/** Addresses of services with backends that are neither pods nor this node; of few services. */
export class OutsideServices {
  readonly #services: Pick<ServiceApi, 'renderedServices'>;
  readonly #found = new Map<ServiceName, readonly OutsideService[]>();

  constructor(services: Pick<ServiceApi, 'renderedServices'>) {
    this.#services = services;
  }

  /** In the order of the names of the services. */
  all(): readonly OutsideService[] {
    const sorted = [...this.#found].sort(([a], [b]) => (a < b ? -1 : 1));
    return sorted.flatMap(([, found]) => found);
  }

  /** Reads all services. */
  resync(): void {
    this.#found.clear();
    for (const [name, service] of this.#services.renderedServices()) this.#set(name, service);
  }

  /** Reads what a change concerns: one service, or all that may have backends on a node. */
  change({ resource, key }: Pick<KubeStateChangePayload, 'resource' | 'key'>): void {
    if (resource !== 'service' && resource !== 'endpoints') {
      this.resync();
      return;
    }
    const names = resources[resource].parseKey(key);
    if (names === undefined) return;
    const name = `${names.namespace}/${names.name}`;
    this.#set(name, this.#services.renderedServices().get(name));
  }

  #set(name: ServiceName, service: RenderedService | undefined): void {
    const found = (service?.addresses ?? []).flatMap(({ address, port, protocol, backends }) => {
      const outside = backends.filter(({ place, isLocal }) => place !== 'pod' && !isLocal);
      return outside.length === 0 ? [] : [{ address, port, protocol, backends: outside }];
    });
    if (found.length > 0) this.#found.set(name, found);
    else this.#found.delete(name);
  }
}
