import { LinuxError, NamespaceNotFoundError } from '../api.ts';

const notFoundErrnos = ['ENODEV', 'ENOENT', 'ESRCH', 'EADDRNOTAVAIL', 'ENXIO'];

/** For deletes: the object or its namespace does not exist. */
export async function ignoreNotFound(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (thrown) {
    if (!(thrown instanceof NamespaceNotFoundError) && !hasErrno(thrown, notFoundErrnos))
      throw thrown;
  }
}

/** @returns false if the kernel refused with this errno; otherwise the call succeeded */
export async function ignoreErrno(errno: string, call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (thrown) {
    if (!hasErrno(thrown, [errno])) throw thrown;
    return false;
  }
}

export function hasErrno(thrown: unknown, errnos: readonly string[]): boolean {
  return thrown instanceof LinuxError && errnos.includes(thrown.errno ?? '');
}
