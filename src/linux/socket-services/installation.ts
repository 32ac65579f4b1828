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
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorText } from '#infra/errors/errors.ts';
import { BpfLink } from '../bpf/link.ts';
import { BpfMap } from '../bpf/map.ts';
import { BpfProgram, type Hook, hooks } from '../bpf/program.ts';
import { close, openFolder } from '../bpf/system-call.ts';
import { loadTypes } from '../bpf/types.ts';
import { Refusal } from '../netlink/refusal.ts';
import type { SocketPrograms } from './kernel-table.ts';
import { LAYOUT_VERSION, type MapName, shapes } from './layout.ts';
import { detachAll, LinkPrograms } from './link-programs.ts';
import { type MapFiles, program } from './programs.ts';

export interface InstallationPlace {
  /** Folder in a bpf file system; it is made. */
  readonly folder: string;
  /** Folder of the control group (version 2) whose processes, and those of the groups below, are served. */
  readonly group: string;
  /** Cookie of the network namespace of the host; undefined: unknown. */
  readonly hostNamespace: bigint | undefined;
}

export type InstalledMaps = Readonly<Record<MapName, BpfMap>>;

type LoadedPrograms = ReadonlyMap<Hook, BpfProgram>;

interface ControlGroup {
  readonly file: number;
  readonly number: bigint;
}

/** Begin of the name of a folder with maps. */
const MAPS = 'maps-';
const ownMaps = `${MAPS}${LAYOUT_VERSION}`;
/** Name of the folder of links. */
const LINKS = 'links';
const newMaps = `${ownMaps}-new`;

const mapNames = Object.keys(shapes) as MapName[];
const hookNames = Object.keys(hooks) as Hook[];

/** Programs of this release with their maps; `activate` puts them in the place of those that run. */
export class Installation implements SocketPrograms {
  readonly maps: InstalledMaps;
  readonly packets: LinkPrograms;
  readonly #place: InstallationPlace;
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
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = openMaps(join(folder, ownMaps));
    this.#areMapsNew = found === undefined;
    this.maps = found ?? makeMaps(join(folder, newMaps));
    this.packets = new LinkPrograms(join(folder, LINKS), filesOf(this.maps));
    try {
      this.#programs = loadAll(this.maps, hostNamespace);
      if (found || !isAnyAttached(folder, group)) this.activate();
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
    const { folder, group } = this.#place;
    if (this.#areMapsNew) {
      // of other shapes
      rmSync(join(folder, ownMaps), { recursive: true, force: true });
      renameSync(join(folder, newMaps), join(folder, ownMaps));
      this.#areMapsNew = false;
    }
    attachAll(programs, folder, group);
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
      return [...this.#stoppedPrograms(), ...this.#lostMaps()];
    } catch (thrown) {
      // as in a file system that has become read-only
      return [`files of programs cannot be opened: ${errorText(thrown)}`];
    }
  }

  #stoppedPrograms(): readonly string[] {
    const { folder, group } = this.#place;
    const { ino } = statSync(group, { bigint: true });
    return hookNames
      .filter((hook) => !isAttached(join(folder, hook), ino))
      .map((hook) => `no program runs at ${hook}`);
  }

  #lostMaps(): readonly string[] {
    if (this.#unnamedMaps().length === 0) return [];
    return ['files of maps are missing: the next agent needs them'];
  }

  /** The maps first: an agent that finds programs without maps lets them continue, with a table that no process writes. */
  restore(): void {
    const { folder, group, hostNamespace } = this.#place;
    mkdirSync(join(folder, ownMaps), { recursive: true, mode: 0o700 });
    for (const name of this.#unnamedMaps()) this.maps[name].pin(join(folder, ownMaps, name));
    const programs = loadAll(this.maps, hostNamespace);
    try {
      attachAll(programs, folder, group);
    } finally {
      closeAll(programs.values());
    }
  }

  #unnamedMaps(): readonly MapName[] {
    return mapNames.filter((name) => !existsSync(join(this.#place.folder, ownMaps, name)));
  }

  uninstall(): void {
    uninstall(this.#place.folder);
  }
}

/** Ends the translation and frees all memory; existing connections continue. */
export function uninstall(folder: string): void {
  for (const hook of hookNames) detach(join(folder, hook));
  detachAll(join(folder, LINKS));
  rmSync(folder, { recursive: true, force: true });
}

/** @returns undefined: not all of them are there, with these shapes */
function openMaps(folder: string): InstalledMaps | undefined {
  if (!existsSync(folder)) return undefined;
  const opened: [MapName, BpfMap][] = [];
  let isWhole = false;
  try {
    for (const name of mapNames) {
      const map = openMap(join(folder, name), name);
      if (!map) return undefined;
      opened.push([name, map]);
    }
    isWhole = true;
    return Object.fromEntries(opened) as InstalledMaps;
  } finally {
    if (!isWhole) closeAll(opened.map(([, map]) => map));
  }
}

/** An agent may have ended while it made or filled them. */
function makeMaps(folder: string): InstalledMaps {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const made: [MapName, BpfMap][] = [];
  try {
    for (const name of mapNames) {
      const path = join(folder, name);
      made.push([name, openMap(path, name) ?? makeMap(path, name)]);
    }
    return Object.fromEntries(made) as InstalledMaps;
  } catch (thrown) {
    closeAll(made.map(([, map]) => map));
    throw thrown;
  }
}

/** @returns undefined: there is none of this shape */
function openMap(path: string, name: MapName): BpfMap | undefined {
  try {
    return BpfMap.open(path, kernelName(name), shapes[name]);
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

function makeMap(path: string, name: MapName): BpfMap {
  const shape = shapes[name];
  rmSync(path, { force: true });
  const types = shape.kind === 'socket' ? loadTypes(shape.valueLength) : undefined;
  try {
    const map = BpfMap.create(kernelName(name), shape, types);
    try {
      map.pin(path);
    } catch (thrown) {
      map.close();
      throw thrown;
    }
    return map;
  } finally {
    if (types) close(types.file);
  }
}

function kernelName(name: MapName): string {
  return `cv_${name}`;
}

function filesOf(maps: InstalledMaps): MapFiles {
  return Object.fromEntries(mapNames.map((name) => [name, maps[name].file])) as MapFiles;
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

function closeAll(objects: Iterable<BpfMap | BpfProgram>): void {
  for (const one of objects) one.close();
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

function withGroup<T>(folder: string, work: (group: ControlGroup) => T): T {
  const file = openFolder(folder);
  try {
    return work({ file, number: statSync(folder, { bigint: true }).ino });
  } finally {
    close(file);
  }
}

/** Whether a program of an earlier agent runs for sockets of the group. */
function isAnyAttached(folder: string, group: string): boolean {
  const { ino } = statSync(group, { bigint: true });
  return hookNames.some((hook) => isAttached(join(folder, hook), ino));
}

/** @param group number of the control group */
function isAttached(path: string, group: bigint): boolean {
  const link = openLink(path);
  try {
    return link?.place.group === group;
  } finally {
    link?.close();
  }
}

function attachAll(programs: LoadedPrograms, folder: string, group: string): void {
  withGroup(group, (opened) => {
    for (const [hook, loaded] of programs) attach(loaded, hook, join(folder, hook), opened);
  });
}

function attach(loaded: BpfProgram, hook: Hook, path: string, group: ControlGroup): void {
  const found = openLink(path);
  try {
    if (found?.place.group === group.number) {
      found.replace(loaded);
      return;
    }
    // the control group is another one, or was deleted
    rmSync(path, { force: true });
    const made = BpfLink.create(loaded, group.file, hooks[hook]);
    try {
      made.pin(path);
    } finally {
      made.close();
    }
  } finally {
    found?.close();
  }
}

/** Without the right to do so the kernel still ends the program, with the file. */
function detach(path: string): void {
  try {
    const link = openLink(path);
    try {
      link?.detach();
    } finally {
      link?.close();
    }
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
  }
}

function openLink(path: string): BpfLink | undefined {
  try {
    return BpfLink.open(path);
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

function isMissing(thrown: unknown): boolean {
  return thrown instanceof Refusal && thrown.errno === 'ENOENT';
}
