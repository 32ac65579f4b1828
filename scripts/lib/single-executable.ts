/** A TypeScript program as a single executable: the Node.js that runs this, with it inside. */
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

/** What Node.js looks for in itself at its start. */
const RESOURCE = 'NODE_SEA_BLOB';
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/**
 * @param entry file of the program
 * @param target file of the executable; replaced at once, so that one that runs goes on
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
        // Saves the compilation, which would be done at each call.
        useCodeCache: true,
      }),
    );
    execFileSync(process.execPath, ['--no-warnings', '--experimental-sea-config', config], {
      stdio: 'ignore',
    });
    const made = join(folder, 'made');
    copyFileSync(process.execPath, made);
    // A seventh of Node.js are symbols, which nobody reads here; where strip is not there they stay.
    spawnSync('strip', [made], { stdio: 'ignore' });
    // As a program of its own: what it says of sections it does not know nobody can use.
    const postject = fileURLToPath(import.meta.resolve('postject/dist/cli.js'));
    execFileSync(process.execPath, [postject, made, RESOURCE, blob, '--sentinel-fuse', FUSE], {
      stdio: 'ignore',
    });
    chmodSync(made, 0o755);
    renameSync(made, target);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
