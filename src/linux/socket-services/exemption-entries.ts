import type { Clock } from '#infra/clock/clock.ts';
import type { MapEntries } from '../bpf/map.ts';
import type { ExemptNamespace } from './api.ts';
import { decodeExemption, encodeCookie, encodeExemption } from './layout.ts';

interface KnownExemption {
  readonly cookie: Buffer;
  readonly path: string;
}

/** Exempt network namespaces in their map, known since the last reading. The kernel gives no cookie a second time. */
export class ExemptionEntries {
  readonly #map: MapEntries;
  #known = new Map<string, KnownExemption>();

  constructor(map: MapEntries) {
    this.#map = map;
  }

  async read(clock: Clock): Promise<void> {
    const entries = await this.#map.entries(clock);
    this.#known = new Map(
      entries.map(([cookie, value]) => {
        const { name, path } = decodeExemption(value);
        return [name, { cookie, path }];
      }),
    );
  }

  get size(): number {
    return this.#known.size;
  }

  all(): readonly ExemptNamespace[] {
    return [...this.#known].map(([name, { path }]) => ({ name, path }));
  }

  set({ name, path }: ExemptNamespace, cookie: bigint): void {
    this.delete(name);
    const bytes = encodeCookie(cookie);
    this.#map.set(bytes, encodeExemption({ name, path }));
    this.#known.set(name, { cookie: bytes, path });
  }

  delete(name: string): void {
    const found = this.#known.get(name);
    if (!found) return;
    this.#map.delete(found.cookie);
    this.#known.delete(name);
  }
}
