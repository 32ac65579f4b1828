/**
 * Programs and maps of services at sockets, kept in the bpf file system: they continue when the agent ends, and its next
 * process finds them. Nothing else belongs into their folder.
 */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BpfLink } from '../bpf/link.ts';
import { BpfMap } from '../bpf/map.ts';
import { BpfProgram, type Hook, hooks } from '../bpf/program.ts';
import { close, openFolder } from '../bpf/system-call.ts';
import { loadTypes } from '../bpf/types.ts';
import { Refusal } from '../netlink/refusal.ts';
import { LAYOUT_VERSION, type MapName, shapes } from './layout.ts';
import { type MapFiles, program } from './programs.ts';

export interface InstallationPlace {
  /** Folder in a bpf file system; it is made. */
  readonly folder: string;
  /** Folder of the control group (version 2) whose processes, and those of the groups below, are served. */
  readonly group: string;
}

export type InstalledMaps = Readonly<Record<MapName, BpfMap>>;

/** Begin of the name of a folder with maps. */
const MAPS = 'maps-';

const mapNames = Object.keys(shapes) as MapName[];
const hookNames = Object.keys(hooks) as Hook[];

/**
 * Opens or makes the maps, and puts the programs of this release in the place of those that run: no call
 * of a socket meets none. Maps of another layout go, when no program reads them any more.
 * @throws Refusal, or an error of the file system
 */
export function install({ folder, group }: InstallationPlace): InstalledMaps {
  const mapFolder = join(folder, `${MAPS}${LAYOUT_VERSION}`);
  mkdirSync(mapFolder, { recursive: true, mode: 0o700 });
  const opened: [MapName, BpfMap][] = [];
  try {
    for (const name of mapNames) opened.push([name, openMap(join(mapFolder, name), name)]);
    const maps = Object.fromEntries(opened) as InstalledMaps;
    attachAll(
      folder,
      group,
      Object.fromEntries(opened.map(([name, { file }]) => [name, file])) as MapFiles,
    );
    for (const name of readdirSync(folder))
      if (name.startsWith(MAPS) && name !== `${MAPS}${LAYOUT_VERSION}`)
        rmSync(join(folder, name), { recursive: true });
    return maps;
  } catch (thrown) {
    for (const [, map] of opened) map.close();
    throw thrown;
  }
}

function attachAll(folder: string, group: string, maps: MapFiles): void {
  const groupFile = openFolder(group);
  try {
    const { ino } = statSync(group, { bigint: true });
    for (const hook of hookNames) {
      const loaded = load(hook, maps);
      try {
        attach(loaded, hook, join(folder, hook), { file: groupFile, number: ino });
      } finally {
        loaded.close();
      }
    }
  } finally {
    close(groupFile);
  }
}

/** Ends the translation and frees all memory; existing connections continue. */
export function uninstall(folder: string): void {
  for (const hook of hookNames) detach(join(folder, hook));
  rmSync(folder, { recursive: true, force: true });
}

function openMap(path: string, name: MapName): BpfMap {
  const shape = shapes[name];
  const kernelName = `cv_${name}`;
  try {
    const found = BpfMap.open(path, kernelName, shape);
    if (found) return found;
    // VPP has the services until the first resync has filled the new one
    rmSync(path);
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
  }
  const types = shape.kind === 'socket' ? loadTypes(shape.valueLength) : undefined;
  try {
    const map = BpfMap.create(kernelName, shape, types);
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

/** Kernels before 5.18 let no program choose the error of a call. */
function load(hook: Hook, files: MapFiles): BpfProgram {
  const name = `cv_${hook}`;
  try {
    return BpfProgram.load(name, hook, program(hook, files, true));
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    return BpfProgram.load(name, hook, program(hook, files, false));
  }
}

function attach(
  loaded: BpfProgram,
  hook: Hook,
  path: string,
  group: { readonly file: number; readonly number: bigint },
): void {
  const found = openLink(path);
  try {
    if (found?.place.group === group.number) {
      found.replace(loaded);
      return;
    }
    // the control group is another one, or was deleted
    rmSync(path, { force: true });
    const made = BpfLink.create(loaded, group.file, hook);
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
