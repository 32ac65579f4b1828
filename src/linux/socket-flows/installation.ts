/**
 * The programs that report connections, and their maps, kept in the bpf file system: they continue when the agent ends, and its
 * next process reads on where it has stopped. Nothing else belongs into their folder:
 *
 * - `<hook>`: the link of the program that runs there;
 * - `maps-<layout>`: its maps.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
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
import { BpfProgram, type FlowHook, flowHooks } from '../bpf/program.ts';
import { Refusal } from '../netlink/refusal.ts';
import { FLOW_LAYOUT_VERSION, type FlowMapName, flowShapes } from './layout.ts';
import { type FlowMapFiles, flowProgram } from './program.ts';

export interface FlowInstallationPlace {
  /** Folder in a bpf file system; it is made. */
  readonly folder: string;
  /** Folder of the control group whose sockets, and those of the groups below, are seen. */
  readonly group: string;
  /** Opens the map of connected sockets of services; undefined: the kernel translates none. */
  readonly openServices: () => BpfMap | undefined;
}

const MAPS = 'maps-';
const ownMaps = `${MAPS}${FLOW_LAYOUT_VERSION}`;
const hookNames = Object.keys(flowHooks) as FlowHook[];

export class FlowInstallation {
  readonly maps: Maps<FlowMapName>;
  readonly #place: FlowInstallationPlace;
  readonly #attached: GroupPrograms<FlowHook>;

  /**
   * Takes over the maps, and replaces the programs: those of an earlier agent may be of another release, or have the map of
   * other services. Connections that a program with maps of another layout has seen are not reported any more.
   * @throws Refusal, or an error of the file system
   */
  constructor(place: FlowInstallationPlace) {
    const { folder, group } = place;
    this.#place = place;
    this.#attached = new GroupPrograms(folder, group, flowHooks);
    const path = join(folder, ownMaps);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.maps = openMaps(path, flowShapes) ?? makeMaps(path, flowShapes);
    try {
      this.#attach();
    } catch (thrown) {
      closeAll(Object.values(this.maps));
      throw thrown;
    }
    for (const name of readdirSync(folder))
      if (name.startsWith(MAPS) && name !== ownMaps)
        rmSync(join(folder, name), { recursive: true });
  }

  /** Always answers: readiness does not depend on these files. */
  lostParts(): readonly string[] {
    try {
      const stopped = this.#attached.stopped().map((hook) => `no program runs at ${hook}`);
      const isUnnamed = this.#unnamedMaps().length > 0;
      return [
        ...stopped,
        ...(isUnnamed ? ['files of maps are missing: the next agent needs them'] : []),
      ];
    } catch (thrown) {
      // as in a file system that has become read-only
      return [`files of programs cannot be opened: ${errorText(thrown)}`];
    }
  }

  restore(): void {
    const path = join(this.#place.folder, ownMaps);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    for (const name of this.#unnamedMaps()) this.maps[name].pin(join(path, name));
    this.#attach();
  }

  uninstall(): void {
    uninstallFlows(this.#place.folder);
  }

  #unnamedMaps(): readonly FlowMapName[] {
    return unnamedMaps(join(this.#place.folder, ownMaps), flowShapes);
  }

  #attach(): void {
    const services = this.#place.openServices();
    const files = { ...filesOf(this.maps), services: services?.file };
    const programs = new Map<FlowHook, BpfProgram>();
    try {
      for (const hook of hookNames) programs.set(hook, load(hook, files));
      this.#attached.attach(programs);
    } finally {
      closeAll(programs.values());
      // programs keep the maps that they use
      services?.close();
    }
  }
}

/** Ends the reports and frees all memory. */
export function uninstallFlows(folder: string): void {
  detachAll(folder, flowHooks);
  rmSync(folder, { recursive: true, force: true });
}

/** Kernels before 5.15 tell these programs no network namespace. */
function load(hook: FlowHook, files: FlowMapFiles): BpfProgram {
  const loadWith = (knowsNamespace: boolean): BpfProgram =>
    BpfProgram.load(`cv_${hook}`, flowHooks[hook], flowProgram(hook, files, { knowsNamespace }));
  try {
    return loadWith(true);
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    return loadWith(false);
  }
}
