import { type FileHandle, open, stat } from 'node:fs/promises';
import { errorText } from '#infra/errors/errors.ts';
import type { NamespaceIdentity, NamespacePath } from '../api.ts';
import { NamespaceNotFoundError } from '../api.ts';

const OWN = '/proc/self/ns/net';

/**
 * What a path leads to. A file that is no namespace (the empty file that stays when a mount is
 * gone) counts as nothing: namespaces stand on a device of their own, the one of our namespace.
 */
export async function namespaceIdentity(
  namespace: NamespacePath,
): Promise<NamespaceIdentity | undefined> {
  const ours = await stat(OWN);
  if (namespace === undefined) return { device: ours.dev, inode: ours.ino };
  const found = await stat(namespace).catch(() => undefined);
  if (found?.dev !== ours.dev) return undefined;
  return { device: found.dev, inode: found.ino };
}

/**
 * Opens a namespace so that all of one process is about the same one, even where the path goes away
 * meanwhile. Until it is closed the namespace lives on.
 * @throws NamespaceGoneError
 */
export async function openNamespace(namespace: NamespacePath): Promise<FileHandle> {
  const path = namespace ?? OWN;
  const ours = await stat(OWN);
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (cause) {
    throw new NamespaceNotFoundError(`no network namespace here (${errorText(cause)})`, {
      where: path,
      cause,
    });
  }
  if ((await file.stat()).dev === ours.dev) return file;
  await file.close();
  throw new NamespaceNotFoundError('the file is no network namespace', { where: path });
}
