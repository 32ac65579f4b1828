/**
 * Folder of the local database. A `bolt.conf` of the Go agent names its database, a file; the folder is then
 * beside it.
 */
import { statSync } from 'node:fs';

/** @param path `db-path` of `bolt.conf` */
export function levelFolder(path: string): string {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return isFile || path.endsWith('.db') ? `${path}.level` : path;
}

/** @param configured `db-path` of `mirror.conf`; empty: not set */
export function mirrorFolder(folder: string, configured: string): string {
  return configured || `${folder}.mirror`;
}
