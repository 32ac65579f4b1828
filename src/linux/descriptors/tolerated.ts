import { LinuxError, NamespaceGoneError } from '../api.ts';

const notThere = ['ENODEV', 'ENOENT', 'ESRCH', 'EADDRNOTAVAIL', 'ENXIO'];

/** For deletes: what is to go has gone already, or the namespace around it has. */
export async function unlessGone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (thrown) {
    if (!(thrown instanceof NamespaceGoneError) && !isErrno(thrown, notThere)) throw thrown;
  }
}

/** @returns whether it was done; false when the kernel refused with this errno */
export async function unless(errno: string, call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (thrown) {
    if (!isErrno(thrown, [errno])) throw thrown;
    return false;
  }
}

export function isErrno(thrown: unknown, errnos: readonly string[]): boolean {
  return thrown instanceof LinuxError && errnos.includes(thrown.errno ?? '');
}
