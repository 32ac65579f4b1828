/**
 * Each program as a few JavaScript files instead of two thousand: to find, read and compile its modules
 * takes most of the time of a start.
 */
import { cpSync, globSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = join(import.meta.dirname, '../..');

/**
 * Folder of the bundles below that of the project. Each is as deep as its sources in `src/cmd`, because
 * programs find `package.json`, `examples` and `.cache` by their distance from their files.
 */
export const BUNDLES = 'dist/cmd';

/** Worker threads of programs: names of their files in the bundle, and the modules with which they begin. */
const workers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  agent: {
    thread: 'src/linux/kernel/thread.ts',
    'trace-worker': 'src/cmd/agent/pair-trace/trace-worker.ts',
    'svg-worker': 'src/kvscheduler/rest/drawing/svg-worker.ts',
    // the module that plugins of plugins.conf import
    'plugin-api': 'src/cmd/agent/plugin-modules/plugin-api.ts',
  },
};

/** Packages that look for their native addon beside their own files. */
export const nativePackages: readonly string[] = ['bcrypt', 'classic-level', 'koffi'];

/** Names that only CommonJS has; the packages that are written in it use them. */
const COMMON_JS_NAMES = `import { createRequire as requireFrom } from 'node:module';
const require = requireFrom(import.meta.url);
const { dirname: __dirname, filename: __filename } = import.meta;`;

/** Modules name the files of their worker threads, which are beside them in the bundle. */
const workerThreads = (entries: Readonly<Record<string, string>>): Plugin => ({
  name: 'worker threads',
  setup({ onLoad }) {
    onLoad({ filter: /[/](src|plugins)[/].*\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const contents = source.replaceAll(
        /new URL\('(?:\.[/])?([\w-]+)\.ts', import\.meta\.url\)/g,
        (_, name: string) => {
          if (!(name in entries)) throw new Error(`the bundle has no file for ${name}.ts`);
          return `new URL('./${name}.js', import.meta.url)`;
        },
      );
      return { contents, loader: 'ts' };
    });
  },
});

/** Names of the programs: `agent` for contiv-agent. The others, such as contiv-cni, are not JavaScript. */
export function programs(): readonly string[] {
  return globSync('src/cmd/*/main.ts', { cwd: root })
    .map((main) => basename(dirname(main)))
    .sort();
}

/**
 * @param name of the program
 * @param project gets the bundle; the program needs `package.json` and the native packages there
 * @returns the folder of the bundle
 */
export async function buildProgram(name: string, project = root): Promise<string> {
  const folder = join(project, BUNDLES, name);
  rmSync(folder, { recursive: true, force: true });
  await bundle({ main: `src/cmd/${name}/main.ts`, ...workers[name] }, folder);
  // etcd3 reads its definitions in the folder `proto` beside that of its code.
  const etcd = dirname(fileURLToPath(import.meta.resolve('etcd3/package.json')));
  cpSync(join(etcd, 'proto'), join(folder, '../proto'), { recursive: true });
  return folder;
}

/** @param entries files of the bundle, without `.js`, and the module with which each begins */
export async function bundle(
  entries: Readonly<Record<string, string>>,
  folder: string,
): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: { ...entries },
    outdir: folder,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    banner: { js: COMMON_JS_NAMES },
    plugins: [workerThreads(entries)],
    external: [...nativePackages],
    // The same package, with its WebAssembly module in the JavaScript instead of a file beside it.
    alias: { '@platformatic/wasm-utils': '@platformatic/wasm-utils/bundled' },
    logLevel: 'error',
  });
}
