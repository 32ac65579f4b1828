/** The files of services at sockets in a bpf file system, as other releases and faults leave them. */
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#infra/clock/system.ts';
import { BpfLink } from '#linux/bpf/link.ts';
import { BpfMap } from '#linux/bpf/map.ts';
import { BpfProgram, type Hook, hooks } from '#linux/bpf/program.ts';
import { LAYOUT_VERSION, type MapName, shapes } from '#linux/socket-services/layout.ts';
import { type MapFiles, type ProgramTraits, program } from '#linux/socket-services/programs.ts';

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

  /** As an operator does who removes the file of a program: the kernel ends it some time later. */
  loseProgram(hook: Hook): void {
    rmSync(join(this.#folder, hook));
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

  /** The running programs become those of a kernel with these traits. */
  replacePrograms(traits: ProgramTraits): void {
    const names = Object.keys(shapes) as MapName[];
    const maps = names.map((name) => [name, this.#open(name)] as const);
    const files = Object.fromEntries(maps.map(([name, { file }]) => [name, file])) as MapFiles;
    for (const hook of Object.keys(hooks) as Hook[]) {
      const loaded = BpfProgram.load(`cv_${hook}`, hooks[hook], program(hook, files, traits));
      const link = BpfLink.open(join(this.#folder, hook));
      link.replace(loaded);
      link.close();
      loaded.close();
    }
    for (const [, map] of maps) map.close();
  }

  /** Names of the folders with maps. */
  layouts(): string[] {
    return readdirSync(this.#folder).filter((name) => name.startsWith('maps-'));
  }

  /** Number of connected datagram sockets that programs know. */
  async connections(): Promise<number> {
    const map = this.#open('connections');
    const found = await map.entries(systemClock);
    map.close();
    return found.length;
  }

  #open(name: MapName): BpfMap {
    return BpfMap.open(join(this.#maps, name), `cv_${name}`, shapes[name])!;
  }
}
