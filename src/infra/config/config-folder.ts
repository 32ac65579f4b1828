import { statSync } from 'node:fs';
import { ConfigError } from './load.ts';

const SET_BY = '(set by --config-dir or CONFIG_DIR)';

/**
 * A missing configuration folder is an error: it would silently mean defaults everywhere.
 * @throws ConfigError
 */
export function checkConfigFolder(path: string): void {
  let isFolder: boolean | undefined;
  try {
    isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`the folder cannot be read: ${code} ${SET_BY}`, { where: path, cause });
  }
  if (isFolder) return;
  const problem = isFolder === undefined ? 'the folder does not exist' : 'is not a folder';
  throw new ConfigError(`${problem} ${SET_BY}`, { where: path });
}
