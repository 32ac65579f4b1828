import type { Clock } from '#infra/clock/clock.ts';
import type { MapEntries } from '../bpf/map.ts';
import type { ServiceLink } from './api.ts';
import { decodeLink, encodeLink, encodeNumber } from './layout.ts';

/** Places where the program for packets runs. */
export interface PacketPrograms {
  attach(index: number): void;
  detach(index: number): void;
  /** Indexes of the links of the host. */
  attached(): readonly number[];
}

/**
 * Links of the host in their map, known since the last reading. An entry whose link was deleted is none, and goes with the
 * next change.
 */
export class LinkEntries {
  readonly #map: MapEntries;
  readonly #programs: PacketPrograms;
  #known = new Map<number, ServiceLink>();

  constructor(map: MapEntries, programs: PacketPrograms) {
    this.#map = map;
    this.#programs = programs;
  }

  async read(clock: Clock): Promise<void> {
    const links = (await this.#map.entries(clock)).map((entry) => decodeLink(...entry));
    this.#known = new Map(links.map((one) => [one.index, one]));
  }

  get size(): number {
    return this.#known.size;
  }

  all(): readonly ServiceLink[] {
    const attached = new Set(this.#programs.attached());
    return [...this.#known.values()].filter(({ index }) => attached.has(index));
  }

  /** The program finds the entry when it begins to run. */
  set(link: ServiceLink): void {
    const attached = new Set(this.#programs.attached());
    for (const index of [...this.#known.keys()]) if (!attached.has(index)) this.#forget(index);
    this.#map.set(encodeNumber(link.index), encodeLink(link));
    this.#known.set(link.index, link);
    this.#programs.attach(link.index);
  }

  delete(index: number): void {
    this.#programs.detach(index);
    this.#forget(index);
  }

  #forget(index: number): void {
    this.#map.delete(encodeNumber(index));
    this.#known.delete(index);
  }
}
