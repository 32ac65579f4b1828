/** The installed VPP, before it runs: what its settings may name. */
import { execFile } from 'node:child_process';
import { readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const TIMEOUT_MS = 10_000;
const PLUGINS = 'vpp_plugins';

export interface VppProgram {
  /** The line by which it names its version, such as `vpp v26.06-release built by …`; empty: unknown. */
  readonly version: string;
  /** File names of its plugins; empty: unknown. */
  readonly plugins: readonly string[];
}

/** @param program path of the binary; its plugins are beside it, in a folder of `lib` */
export async function vppProgram(program: string): Promise<VppProgram> {
  const [version, plugins] = await Promise.all([versionOf(program), pluginsOf(program)]);
  return { version, plugins };
}

/**
 * Whether it knows the settings of cnat in `generatedStartup`: VPP does not start with one that it does not know, and an image may
 * have only some of the plugins.
 */
export function hasCnatSettings({ version, plugins }: VppProgram): boolean {
  const [, year, month] = /^vpp v(\d{2})\.(\d{2})/.exec(version) ?? [];
  const isNew = year !== undefined && Number(`${year}${month}`) >= 2606;
  return isNew && plugins.includes('cnat_plugin.so');
}

async function versionOf(program: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: TIMEOUT_MS });
    return stdout;
  } catch {
    return '';
  }
}

async function pluginsOf(program: string): Promise<readonly string[]> {
  try {
    const lib = join(dirname(await realpath(program)), '..', 'lib');
    const folders = ['', ...(await readdir(lib))].map((name) => join(lib, name, PLUGINS));
    const found = await Promise.all(folders.map((each) => readdir(each).catch(() => [])));
    return found.flat();
  } catch {
    return [];
  }
}
