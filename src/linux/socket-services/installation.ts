/**
 * Programs and maps of services at sockets, kept in the bpf file system: they continue when the agent ends, and its next
 * process finds them. Nothing else belongs into their folder:
 *
 * - `<hook>`: the link of the program that runs there;
 * - `links/<index>`: the link of the program for packets of a link of the host;
 * - `maps-<layout>`: the maps of these programs, or of those that take their places next;
 * - `maps-<layout>-new`: maps that are being filled, while programs run that have a table of their own.
 *
 * An earlier release removes folders of maps that are not its own, and so does this one.
 */
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errorText } from '#infra/errors/errors.ts';
import { detachAll, GroupPrograms } from '../bpf/group-programs.ts';
import type { BpfMap } from '../bpf/map.ts';
import {
  closeAll,
  filesOf,
  type Maps,
  makeMaps,
  openMaps,
  unnamedMaps,
} from '../bpf/map-folder.ts';
import { BpfProgram, type Hook, hooks } from '../bpf/program.ts';
import { Refusal } from '../netlink/refusal.ts';
import type { SocketPrograms } from './kernel-table.ts';
import { LAYOUT_VERSION, type MapName, shapes } from './layout.ts';
import { detachAllLinks, LinkPrograms } from './link-programs.ts';
import { type MapFiles, program } from './programs.ts';

export interface InstallationPlace {
  /** Folder in a bpf file system; it is made. */
  readonly folder: string;
  /** Folder of the control group (version 2) whose processes, and those of the groups below, are served. */
  readonly group: string;
  /** Cookie of the network namespace of the host; undefined: unknown. */
  readonly hostNamespace: bigint | undefined;
}

export type InstalledMaps = Maps<MapName>;

type LoadedPrograms = ReadonlyMap<Hook, BpfProgram>;

/** Begin of the name of a folder with maps. */
const MAPS = 'maps-';
const ownMaps = `${MAPS}${LAYOUT_VERSION}`;
/** Name of the folder of links. */
const LINKS = 'links';
const newMaps = `${ownMaps}-new`;

const hookNames = Object.keys(hooks) as Hook[];

/** Programs of this release with their maps; `activate` puts them in the place of those that run. */
export class Installation implements SocketPrograms {
  readonly maps: InstalledMaps;
  readonly packets: LinkPrograms;
  readonly #place: InstallationPlace;
  readonly #attached: GroupPrograms<Hook>;
  #areMapsNew: boolean;
  /** Until they run. */
  #programs: LoadedPrograms | undefined;

  /**
   * Opens or makes the maps, and lets the kernel check the programs. They replace those that run at once if these
   * read the same maps; programs with another table continue until this one is filled.
   * @throws Refusal, or an error of the file system
   */
  constructor(place: InstallationPlace) {
    const { folder, group, hostNamespace } = place;
    this.#place = place;
    this.#attached = new GroupPrograms(folder, group, hooks);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = openMaps(join(folder, ownMaps), shapes);
    this.#areMapsNew = found === undefined;
    this.maps = found ?? makeMaps(join(folder, newMaps), shapes);
    this.packets = new LinkPrograms(join(folder, LINKS), filesOf(this.maps));
    try {
      this.#programs = loadAll(this.maps, hostNamespace);
      if (found || !this.#attached.isAnyAttached) this.activate();
    } catch (thrown) {
      closeAll(Object.values(this.maps));
      closeAll(this.#programs?.values() ?? []);
      throw thrown;
    }
  }

  get areActive(): boolean {
    return this.#programs === undefined;
  }

  /**
   * No call of a socket meets no program. The name of the maps is changed first: an agent that finds it knows that they are
   * filled, and replaces at once what a crash has left of the earlier programs.
   */
  activate(): void {
    const programs = this.#programs;
    if (!programs) return;
    const { folder } = this.#place;
    if (this.#areMapsNew) {
      // of other shapes
      rmSync(join(folder, ownMaps), { recursive: true, force: true });
      renameSync(join(folder, newMaps), join(folder, ownMaps));
      this.#areMapsNew = false;
    }
    this.#attached.attach(programs);
    this.packets.replaceAll();
    closeAll(programs.values());
    this.#programs = undefined;
    for (const name of readdirSync(folder))
      if (name.startsWith(MAPS) && name !== ownMaps)
        rmSync(join(folder, name), { recursive: true });
  }

  /** Always answers: readiness, metrics and the resync of the services do not depend on these files. */
  lostParts(): readonly string[] {
    if (!this.areActive) return [];
    try {
      const stopped = this.#attached.stopped().map((hook) => `no program runs at ${hook}`);
      return [...stopped, ...this.#lostMaps()];
    } catch (thrown) {
      // as in a file system that has become read-only
      return [`files of programs cannot be opened: ${errorText(thrown)}`];
    }
  }

  #lostMaps(): readonly string[] {
    if (this.#unnamedMaps().length === 0) return [];
    return ['files of maps are missing: the next agent needs them'];
  }

  /** The maps first: an agent that finds programs without maps lets them continue, with a table that no process writes. */
  restore(): void {
    const { folder, hostNamespace } = this.#place;
    mkdirSync(join(folder, ownMaps), { recursive: true, mode: 0o700 });
    for (const name of this.#unnamedMaps()) this.maps[name].pin(join(folder, ownMaps, name));
    const programs = loadAll(this.maps, hostNamespace);
    try {
      this.#attached.attach(programs);
    } finally {
      closeAll(programs.values());
    }
  }

  #unnamedMaps(): readonly MapName[] {
    return unnamedMaps(join(this.#place.folder, ownMaps), shapes);
  }

  uninstall(): void {
    uninstall(this.#place.folder);
  }
}

/** Maps that know which service a client has asked. */
export interface AskedServiceMaps<M> {
  /** Of a connected socket: the service and the backend. */
  readonly sockets: M;
  /** Of sockets that send without a connection: from the backend to the service, too. */
  readonly flows: M;
}

/**
 * For programs that report connections.
 * @returns undefined: no services were ever translated
 */
export function openAskedServices(folder: string): AskedServiceMaps<BpfMap> | undefined {
  for (const maps of [ownMaps, newMaps]) {
    const path = join(folder, maps);
    const found = openMaps(path, { sockets: shapes.sockets, flows: shapes.flows });
    if (found) return found;
  }
  return undefined;
}

/** Ends the translation and frees all memory; existing connections continue. */
export function uninstall(folder: string): void {
  detachAll(folder, hooks);
  detachAllLinks(join(folder, LINKS));
  rmSync(folder, { recursive: true, force: true });
}

function loadAll(maps: InstalledMaps, hostNamespace: bigint | undefined): LoadedPrograms {
  const files = filesOf(maps);
  const loaded = new Map<Hook, BpfProgram>();
  try {
    for (const hook of hookNames) loaded.set(hook, load(hook, files, hostNamespace));
    return loaded;
  } catch (thrown) {
    closeAll(loaded.values());
    throw thrown;
  }
}

/** Kernels before 5.18 let no program choose the error of a call. */
function load(hook: Hook, files: MapFiles, hostNamespace: bigint | undefined): BpfProgram {
  const loadWith = (canRefuse: boolean): BpfProgram =>
    BpfProgram.load(`cv_${hook}`, hooks[hook], program(hook, files, { canRefuse, hostNamespace }));
  try {
    return loadWith(true);
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    return loadWith(false);
  }
}
