/**
 * The package `contiv-vswitch` for authors of plugins: the types of `plugin-api.ts`, and its JavaScript in one file, for
 * their tests. An agent gives the plugins that it loads its own module instead.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { nativePackages } from './bundles.ts';

const root = join(import.meta.dirname, '../..');
const API = 'src/cmd/agent/plugin-modules/plugin-api';

interface PackageJson {
  readonly version: string;
  readonly license: string;
  readonly engines: object;
  readonly imports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** @param folder is emptied, and gets the package */
export async function buildPluginPackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const project = join(folder, 'tsconfig.json');
  const compilerOptions = {
    noEmit: false,
    incremental: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: root,
    outDir: join(folder, 'types'),
    typeRoots: [join(root, 'node_modules/@types')],
  };
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions,
      include: [],
      files: [join(root, `${API}.ts`)],
    }),
  );
  execFileSync(join(root, 'node_modules/typescript-7/bin/tsc'), ['-p', project], { cwd: root });
  rmSync(project);
  await build({
    absWorkingDir: root,
    entryPoints: [`${API}.ts`],
    outfile: join(folder, 'index.js'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    packages: 'external',
    logLevel: 'error',
  });
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as PackageJson;
  const { version, license, engines } = own;
  const content = {
    ...{ name: 'contiv-vswitch', version, license, type: 'module', engines },
    description: 'The API of plugins of contiv-vswitch',
    exports: { '.': { types: `./types/${API}.d.ts`, default: './index.js' } },
    imports: Object.fromEntries(
      Object.entries(own.imports)
        .map(([name, target]) => [name, `types/${target.slice('./'.length)}`] as const)
        .filter(([, types]) => existsSync(join(folder, dirname(types))))
        .map(([name, types]) => [`${name}.ts`, { types: `./${types}.d.ts` }]),
    ),
    dependencies: importedPackages(folder, { ...own.devDependencies, ...own.dependencies }),
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(content, null, 2)}\n`);
}

/** Packages that the types and the JavaScript import, with the versions of this project. */
function importedPackages(folder: string, versions: PackageJson['dependencies']) {
  const namesIn = (pattern: string): string[] => {
    const files = globSync(pattern, { cwd: folder });
    const texts = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
    return [...texts.matchAll(/(?:from|import\()\s*['"]((?:@[\w.-]+\/)?[\w.-]+)/g)].map(
      ([, name]) => name!,
    );
  };
  // No native package is built only for its types.
  const typed = namesIn('types/**/*.d.ts').filter((name) => !nativePackages.includes(name));
  return Object.fromEntries(
    [...new Set([...namesIn('index.js'), ...typed])]
      .filter((name) => name in versions)
      .sort()
      .map((name) => [name, versions[name]]),
  );
}
