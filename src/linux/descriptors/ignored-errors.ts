import { LinuxError, NamespaceNotFoundError } from '../api.ts';

const notFoundErrnos = ['ENODEV', 'ENOENT', 'ESRCH', 'EADDRNOTAVAIL', 'ENXIO'];

/** For deletes: what is to go has gone already, or the namespace around it has. */
export async function ignoreNotFound(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (thrown) {
    if (!(thrown instanceof NamespaceNotFoundError) && !hasErrno(thrown, notFoundErrnos))
      throw thrown;
  }
}

/** @returns whether it was done; false when the kernel refused with this errno */
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
