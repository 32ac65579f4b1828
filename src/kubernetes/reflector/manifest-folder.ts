/** A folder of Kubernetes manifests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { defineError, errorText } from '#infra/errors/errors.ts';
import type { ManifestProblem } from './manifest-problem.ts';
import { type ManifestObject, type Manifests, readManifests } from './manifests.ts';

export const ManifestsError = defineError({
  name: 'ManifestsError',
  code: 'CV_MANIFESTS_UNREADABLE',
  rejects: 'configuration',
  remedy: 'Set --manifests to a folder with readable .yaml files.',
});

/** Reads the manifests of a folder and its subfolders in the order of their names. @throws ManifestsError */
export function readManifestFolder(folder: string): Manifests {
  const objects: ManifestObject[] = [];
  const problems: ManifestProblem[] = [];
  const files = readOrThrow(folder, () =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && /\.(ya?ml|json)$/.test(entry.name))
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
      .sort(),
  );
  for (const file of files) {
    const path = join(folder, file);
    const read = readManifests(
      readOrThrow(path, () => readFileSync(path, 'utf8')),
      file,
    );
    objects.push(...read.objects);
    problems.push(...read.problems);
  }
  return { objects, problems };
}

function readOrThrow<T>(where: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new ManifestsError(`cannot be read: ${errorText(cause)}`, { where, cause });
  }
}
