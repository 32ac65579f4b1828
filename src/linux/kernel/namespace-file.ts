import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { errorText } from '#infra/errors/errors.ts';
import type { NamespaceIdentity, NamespacePath } from '../api.ts';

/** Of the main thread: it never leaves the agent's namespace. */
const OWN = '/proc/self/ns/net';

/**
 * The namespace that a path refers to. Other files (such as the empty file that remains after an unmount)
 * are ignored: all namespaces are on the device of the agent's own namespace.
 */
export async function namespaceIdentity(
  namespace: NamespacePath,
): Promise<NamespaceIdentity | undefined> {
  const [ours, found] = await Promise.all([
    stat(OWN),
    namespace === undefined ? undefined : stat(namespace).catch(() => undefined),
  ]);
  if (namespace === undefined) return { device: ours.dev, inode: ours.ino };
  if (found?.dev !== ours.dev) return undefined;
  return { device: found.dev, inode: found.ino };
}

/** The path does not lead to a network namespace. */
export class NoNamespaceError extends Error {
  override readonly name = 'NoNamespaceError';
  readonly path: string;

  constructor(path: string, reason: string) {
    super(reason);
    this.path = path;
  }
}

/**
 * Opens a namespace, so that a batch uses the same one throughout, even if the path is deleted meanwhile.
 * The namespace exists until the file is closed.
 * @returns the file descriptor
 * @throws NoNamespaceError
 */
export function openNamespace(namespace: NamespacePath): number {
  const path = namespace ?? OWN;
  let file: number;
  try {
    // without waiting: the path may be a pipe without a writer
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const what = code === 'ENOENT' || code === 'ESRCH' ? 'does not exist' : 'cannot be opened';
    throw new NoNamespaceError(path, `the network namespace ${what} (${errorText(cause)})`);
  }
  if (fstatSync(file).dev === statSync(OWN).dev) return file;
  closeSync(file);
  throw new NoNamespaceError(path, 'the file is not a network namespace');
}
