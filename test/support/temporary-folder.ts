import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let folders: string[] | undefined;

/** @returns the path of a new folder, which is removed when this process ends */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  if (!folders) {
    folders = [];
    process.once('exit', removeAll);
  }
  folders.push(folder);
  return folder;
}

function removeAll(): void {
  for (const folder of folders ?? []) rmSync(folder, { recursive: true, force: true });
}
