/** Hashes of the folders that a run of a suite proves: those of the tree of which the images were made. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitTreeHash } from '../../scripts/lib/git-tree.ts';
import { folderOf } from './folder.ts';

/** A run is valid for as long as none of these changes. */
export const provenFolders = ['src/vpp', 'src/linux', 'plugins'] as const;

/** Of today: `src/vpp 4cee71…`, one line a folder, as in the report. */
export const provenTrees = (): string[] =>
  provenFolders.map((folder) => `${folder} ${gitTreeHash(folder)}`);

const fileOf = (): string => join(folderOf('images'), 'trees.json');

/** The images were made of the tree of today. */
export function writeImageTrees(): void {
  writeFileSync(fileOf(), JSON.stringify(provenTrees()));
}

export function readImageTrees(): readonly string[] {
  return JSON.parse(readFileSync(fileOf(), 'utf8'));
}
