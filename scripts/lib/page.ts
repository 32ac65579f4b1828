/** Builds the web page of the folder `ui` with esbuild. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '../..');

/** Folder of the built page below that of the project. */
export const PAGE = 'dist/ui';

export interface BuiltFile {
  readonly name: string;
  readonly bytes: number;
  readonly gzipBytes: number;
}

/**
 * @param project gets the built page
 * @returns its files, with their sizes
 */
export async function buildPage(project = root): Promise<readonly BuiltFile[]> {
  const folder = join(project, PAGE);
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['ui/src/main.tsx', 'ui/src/style.css'],
    outdir: folder,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: 'ui/tsconfig.json',
    // the view of help has pages of docs
    loader: { '.md': 'text' },
    legalComments: 'none',
    write: false,
    logLevel: 'error',
  });
  const files = new Map(
    outputFiles.map(({ path, contents }) => [basename(path), Buffer.from(contents)]),
  );
  const fileOf = (pattern: RegExp): string => [...files.keys()].find((name) => pattern.test(name))!;
  const page = readFileSync(join(root, 'ui/src/index.html'), 'utf8')
    .replace('%SCRIPT%', fileOf(/^main-.*\.js$/))
    .replace('%STYLE%', fileOf(/^style-.*\.css$/));
  files.set('index.html', Buffer.from(page));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return [...files].map(([name, content]) => {
    const gzip = gzipSync(content, { level: 9 });
    writeFileSync(join(folder, name), content);
    writeFileSync(join(folder, `${name}.gz`), gzip);
    return { name, bytes: content.length, gzipBytes: gzip.length };
  });
}
