/** The rules of .dependency-cruiser.cjs as the table that docs/architecture.md shows. */
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { type Row, renderTable } from './table.ts';

interface Rule {
  readonly name: string;
  readonly from: { readonly path?: string };
  readonly to: { readonly path?: string; readonly pathNot?: string };
}

interface Room {
  /** `src/infra`; `plugins/<name>` for rules that hold for every folder of a kind. */
  readonly folder: string;
  readonly mayImport: readonly string[];
}

/** Rules that say what a folder may import; the others (circles, packages …) are about all. */
export function rooms(): Room[] {
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

/** A path of a rule as people write it. */
function readable(path: string): string {
  return path.replace('([^/]+)', '<name>').replace('[^/]+', '*').replace('$1', '<name>');
}

export function roomTable(old: string): string {
  const rows = rooms().map(({ folder, mayImport }): Row => {
    const list = mayImport.map((path) => `\`${path}\``).join(', ');
    return { key: `\`${folder}\``, cells: [{ suggestion: '' }, list || 'nothing of ours'] };
  });
  return renderTable(['folder', 'what lives there', 'may import'], rows, old);
}
