/**
 * The agent as a few JavaScript files instead of two thousand: to find, read and compile its modules takes
 * most of the time of a start.
 */
import { cpSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = join(import.meta.dirname, '../..');

/**
 * Folder of the bundle below that of the project. It is as deep as `src/cmd/agent`, because the agent
 * finds `package.json`, `examples` and `.cache` by their distance from its files.
 */
export const BUNDLE = 'dist/cmd/agent';

/** Folder of the bundle of contiv-ksr. */
const KSR_BUNDLE = 'dist/cmd/ksr';

/** Files of the bundle, and the module with which each begins. */
const agent = {
  main: 'src/cmd/agent/main.ts',
  thread: 'src/linux/kernel/thread.ts',
  'svg-worker': 'src/kvscheduler/rest/drawing/svg-worker.ts',
} as const;

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

/** @param project gets the bundle; it has to have `package.json` and the packages with native addons */
export async function buildAgent(project = root): Promise<string> {
  return await buildProgram(agent, join(project, BUNDLE));
}

/** The bundle of contiv-ksr; it needs `package.json`. */
export async function buildKsr(project = root): Promise<string> {
  return await buildProgram({ main: 'src/cmd/ksr/main.ts' }, join(project, KSR_BUNDLE));
}

async function buildProgram(
  entries: Readonly<Record<string, string>>,
  folder: string,
): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  await bundle(entries, folder);
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
    // They look for their native addon beside their own files.
    external: ['bcrypt', 'classic-level', 'koffi'],
    // The same package, with its WebAssembly module in the JavaScript instead of a file beside it.
    alias: { '@platformatic/wasm-utils': '@platformatic/wasm-utils/bundled' },
    logLevel: 'error',
  });
}
