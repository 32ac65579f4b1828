/** Builds a single executable of a TypeScript program: a copy of this Node.js that contains it. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Names by which Node.js finds the program in its executable. */
const RESOURCE = 'NODE_SEA_BLOB';
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/**
 * @param entry file of the program
 * @param target file of the executable; replaced atomically, so that running processes continue
 */
export async function buildExecutable(entry: string, target: string): Promise<void> {
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(join(dirname(target), '.build-'));
  try {
    const main = join(folder, 'main.cjs');
    await build({
      entryPoints: [entry],
      outfile: main,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node24',
      minify: true,
      logLevel: 'error',
    });
    const blob = join(folder, 'blob');
    const config = join(folder, 'config.json');
    writeFileSync(
      config,
      JSON.stringify({
        main,
        output: blob,
        disableExperimentalSEAWarning: true,
        // Saves the compilation at each call.
        useCodeCache: true,
      }),
    );
    execFileSync(process.execPath, ['--no-warnings', '--experimental-sea-config', config], {
      stdio: 'ignore',
    });
    const executable = join(folder, 'executable');
    copyFileSync(process.execPath, executable);
    // Symbols are a seventh of Node.js and not needed; without strip they stay.
    spawnSync('strip', [executable], { stdio: 'ignore' });
    // As a separate program, whose warnings about unknown sections are discarded.
    const postject = fileURLToPath(import.meta.resolve('postject/dist/cli.js'));
    execFileSync(
      process.execPath,
      [postject, executable, RESOURCE, blob, '--sentinel-fuse', FUSE],
      {
        stdio: 'ignore',
      },
    );
    chmodSync(executable, 0o755);
    renameSync(executable, target);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
