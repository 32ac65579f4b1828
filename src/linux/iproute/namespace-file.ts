import { constants, type FileHandle, open, stat } from 'node:fs/promises';
import { errorText } from '#infra/errors/errors.ts';
import type { NamespaceIdentity, NamespacePath } from '../api.ts';
import { NamespaceNotFoundError } from '../api.ts';

const OWN = '/proc/self/ns/net';

/**
 * The namespace that a path refers to. Other files (such as the empty file that remains after an unmount)
 * are ignored: all namespaces are on the device of the agent's own namespace.
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
 * Opens a namespace, so that a process uses the same one throughout, even if the path is deleted
 * meanwhile. The namespace exists until the file is closed.
 * @throws NamespaceNotFoundError
 */
export async function openNamespace(namespace: NamespacePath): Promise<FileHandle> {
  const path = namespace ?? OWN;
  const ours = await stat(OWN);
  let file: FileHandle;
  try {
    // without waiting: the path may be a pipe without a writer
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw new NamespaceNotFoundError(`the network namespace does not exist (${errorText(cause)})`, {
      where: path,
      cause,
    });
  }
  if ((await file.stat()).dev === ours.dev) return file;
  await file.close();
  throw new NamespaceNotFoundError('the file is not a network namespace', { where: path });
}
