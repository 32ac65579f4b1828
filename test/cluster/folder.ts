/**
 * The folder of the clusters of tests, outside the repository: `programs` and `images` are kept between
 * runs, `run` belongs to the cluster that is up, `results` has what the suites said last.
 */
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');

export const clusterFolder = process.env['CLUSTER_FOLDER'] || join(cache, 'contiv-vswitch/cluster');

/** It exists while a cluster is up, or after a command that was killed. */
export const clusterSettingsFile = join(clusterFolder, 'run/settings.json');

/** Path of a folder in it, which exists afterwards. */
export function folderOf(...parts: readonly string[]): string {
  const path = join(clusterFolder, ...parts);
  mkdirSync(path, { recursive: true });
  return path;
}
