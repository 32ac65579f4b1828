/** The files of services at sockets in a bpf file system, as other releases and faults leave them. */
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#infra/clock/system.ts';
import { BpfMap } from '#linux/bpf/map.ts';
import { LAYOUT_VERSION, shapes } from '#linux/socket-services/layout.ts';

/** Name of the folder with the maps of this release. */
export const ownLayout = `maps-${LAYOUT_VERSION}`;

export class SocketFiles {
  readonly #folder: string;
  readonly #maps: string;

  /** @param sysFs folder in the place of /sys/fs */
  constructor(sysFs: string) {
    this.#folder = join(sysFs, 'bpf/contiv-vswitch');
    this.#maps = join(this.#folder, ownLayout);
  }

  /** The running programs become those of a release with another layout. */
  becomeOtherLayout(): void {
    renameSync(this.#maps, join(this.#folder, 'maps-0'));
  }

  /** The running programs become those of a release with another shape of one map, and the same layout number. */
  becomeOtherShape(): void {
    const file = join(this.#maps, 'slots');
    rmSync(file);
    const map = BpfMap.create('cv_other', {
      kind: 'hash',
      keyLength: 4,
      valueLength: 4,
      maxEntries: 1,
    });
    map.pin(file);
    map.close();
  }

  /** The running programs have no maps that an agent could find. */
  loseMaps(): void {
    rmSync(this.#maps, { recursive: true });
  }

  /** As if the agent had ended after it has named the new maps, before it has replaced a program. */
  nameNewMaps(): void {
    renameSync(`${this.#maps}-new`, this.#maps);
  }

  /** Makes the kernel refuse the last of the programs, until all of them are removed. */
  spoilLink(): void {
    const path = join(this.#folder, 'release');
    rmSync(path);
    mkdirSync(path);
  }

  repairLink(): void {
    rmdirSync(join(this.#folder, 'release'));
  }

  /** Names of the folders with maps. */
  layouts(): string[] {
    return readdirSync(this.#folder).filter((name) => name.startsWith('maps-'));
  }

  /** Number of connected datagram sockets that programs know. */
  async connections(): Promise<number> {
    const path = join(this.#maps, 'connections');
    const map = BpfMap.open(path, 'cv_connections', shapes.connections)!;
    const found = await map.entries(systemClock);
    map.close();
    return found.length;
  }
}
