/** Maps that are kept in a folder of the bpf file system, a file for each. */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isMissing } from './link.ts';
import { BpfMap, type MapShape } from './map.ts';
import { close } from './system-call.ts';
import { loadTypes } from './types.ts';

/** By name, which is that of the file. */
export type MapShapes<N extends string> = Readonly<Record<N, MapShape>>;

export type Maps<N extends string> = Readonly<Record<N, BpfMap>>;

/** @returns undefined: not all of them are there, with these shapes */
export function openMaps<N extends string>(
  folder: string,
  shapes: MapShapes<N>,
): Maps<N> | undefined {
  if (!existsSync(folder)) return undefined;
  const opened: [N, BpfMap][] = [];
  let isWhole = false;
  try {
    for (const name of namesOf(shapes)) {
      const map = openMap(join(folder, name), name, shapes[name]);
      if (!map) return undefined;
      opened.push([name, map]);
    }
    isWhole = true;
    return Object.fromEntries(opened) as Maps<N>;
  } finally {
    if (!isWhole) closeAll(opened.map(([, map]) => map));
  }
}

/** An agent may have ended while it made or filled them. */
export function makeMaps<N extends string>(folder: string, shapes: MapShapes<N>): Maps<N> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const made: [N, BpfMap][] = [];
  try {
    for (const name of namesOf(shapes)) {
      const path = join(folder, name);
      made.push([name, openMap(path, name, shapes[name]) ?? makeMap(path, name, shapes[name])]);
    }
    return Object.fromEntries(made) as Maps<N>;
  } catch (thrown) {
    closeAll(made.map(([, map]) => map));
    throw thrown;
  }
}

/** Names of maps without a file. */
export function unnamedMaps<N extends string>(folder: string, shapes: MapShapes<N>): readonly N[] {
  return namesOf(shapes).filter((name) => !existsSync(join(folder, name)));
}

/** Descriptors of the maps. */
export function filesOf<N extends string>(maps: Maps<N>): Readonly<Record<N, number>> {
  const files = namesOf(maps).map((name) => [name, maps[name].file] as const);
  return Object.fromEntries(files) as Record<N, number>;
}

export function closeAll(objects: Iterable<{ close(): void }>): void {
  for (const one of objects) one.close();
}

/** @returns undefined: there is none of this shape */
function openMap(path: string, name: string, shape: MapShape): BpfMap | undefined {
  try {
    return BpfMap.open(path, kernelName(name), shape);
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw thrown;
  }
}

function makeMap(path: string, name: string, shape: MapShape): BpfMap {
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

function kernelName(name: string): string {
  return `cv_${name}`;
}

function namesOf<N extends string>(of: Readonly<Record<N, unknown>>): readonly N[] {
  return Object.keys(of) as N[];
}
