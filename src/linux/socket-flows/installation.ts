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
import type { AskedServiceMaps } from '../socket-services/installation.ts';
import { FLOW_LAYOUT_VERSION, type FlowMapName, flowShapes } from './layout.ts';
import { flowProgram } from './program.ts';
import type { FlowMapFiles, FlowProgramTraits } from './program-parts.ts';

export interface FlowInstallationPlace {
  /** Folder in a bpf file system; it is made. */
  readonly folder: string;
  /** Folder of the control group whose sockets, and those of the groups below, are seen. */
  readonly group: string;
  /** Opens the maps of clients of services; undefined: the kernel translates none. */
  readonly openServices: () => AskedServiceMaps<BpfMap> | undefined;
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
    const files = { ...filesOf(this.maps), services: services && filesOf(services) };
    const programs = new Map<FlowHook, BpfProgram>();
    try {
      for (const hook of hookNames) programs.set(hook, load(hook, files));
      this.#attached.attach(programs);
    } finally {
      closeAll(programs.values());
      // programs keep the maps that they use
      if (services) closeAll(Object.values(services));
    }
  }
}

/** Ends the reports and frees all memory. */
export function uninstallFlows(folder: string): void {
  detachAll(folder, flowHooks);
  rmSync(folder, { recursive: true, force: true });
}

/** Helpers that a program may call depend on its kind and on the kernel: the next traits need less. */
const traits: readonly FlowProgramTraits[] = [
  { knowsNamespace: true, hasCoarseTime: true },
  { knowsNamespace: false, hasCoarseTime: true },
  { knowsNamespace: false, hasCoarseTime: false },
];

function load(hook: FlowHook, files: FlowMapFiles): BpfProgram {
  const refusals: Refusal[] = [];
  for (const one of traits)
    try {
      return BpfProgram.load(`cv_${hook}`, flowHooks[hook], flowProgram(hook, files, one));
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown;
      refusals.push(thrown);
    }
  throw refusals.at(-1)!;
}
