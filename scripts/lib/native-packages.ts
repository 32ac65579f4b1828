/** The packages with native addons, which no bundle can contain, without what other machines need. */
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { nativePackages } from './bundles.ts';

const root = join(import.meta.dirname, '../..');

/** Addons for other machines are in `prebuilds`, in a folder named after the system and the processor. */
const ADDONS = 'prebuilds';
const thisMachine = `${process.platform}-${process.arch}`;

/** Sources that an addon is compiled from where a package brings none. */
const SOURCES = ['deps', 'vendor'];

/** @returns the folder, where the bundles in dist/cmd find them */
export function copyNativePackages(project = root): string {
  const folder = join(project, 'dist/node_modules');
  rmSync(folder, { recursive: true, force: true });
  for (const [name, from] of withDependencies(nativePackages))
    cpSync(from, join(folder, name), {
      recursive: true,
      filter: (path) => path === from || isNeeded(path, from),
    });
  return folder;
}

function isNeeded(path: string, from: string): boolean {
  if (basename(dirname(path)) === ADDONS) return basename(path) === thisMachine;
  return dirname(path) !== from || !SOURCES.includes(basename(path));
}

/** @returns folders of the packages and of all that they depend on, by name */
function withDependencies(names: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (name: string, from: string): void => {
    if (found.has(name)) return;
    const folder = folderOf(name, from);
    // Optional: the package for another machine.
    if (folder === undefined) return;
    found.set(name, folder);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    for (const next of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }))
      add(next, folder);
  };
  for (const name of names) add(name, root);
  return found;
}

function folderOf(name: string, from: string): string | undefined {
  const paths = createRequire(join(from, 'package.json')).resolve.paths(name) ?? [];
  return paths.map((folder) => join(folder, name)).find((folder) => existsSync(folder));
}
