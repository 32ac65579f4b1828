/** The rules of .dependency-cruiser.cjs as the table that docs/architecture.md shows. */
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { type Row, renderTable } from './table.ts';

interface Rule {
  readonly name: string;
  readonly from: { readonly path?: string };
  readonly to: { readonly path?: string; readonly pathNot?: string };
}

interface FolderRule {
  /** `src/infra`; `plugins/<name>` for rules that hold for every folder of a kind. */
  readonly folder: string;
  readonly mayImport: readonly string[];
}

/** Rules that say what a folder may import; the others (cycles, packages …) apply to all. */
export function folderRules(): FolderRule[] {
  const require = createRequire(import.meta.url);
  const { forbidden } = require(resolve('.dependency-cruiser.cjs')) as {
    forbidden: readonly Rule[];
  };
  return forbidden.flatMap(({ from, to }) => {
    if (!from.path || to.path !== '^(src|plugins)/' || !to.pathNot) return [];
    const folder = readable(from.path.replace(/^\^|\/$/g, ''));
    const allowed = /^\^\((.*)\)\(\/\|\$\)$/.exec(to.pathNot)?.[1]?.split('|') ?? [];
    const mayImport = allowed.map(readable).filter((path) => path !== folder);
    return [{ folder, mayImport }];
  });
}

/** A path of a rule in its readable form. */
function readable(path: string): string {
  return path.replace('([^/]+)', '<name>').replace('[^/]+', '*').replace('$1', '<name>');
}

export function folderTable(old: string): string {
  const rows = folderRules().map(({ folder, mayImport }): Row => {
    const list = mayImport.map((path) => `\`${path}\``).join(', ');
    return { key: `\`${folder}\``, cells: [{ suggestion: '' }, list || 'no other folder'] };
  });
  return renderTable(['folder', 'contents', 'may import'], rows, old);
}
