import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder and its parents unless they exist. `recursive` of Node.js never ends on a file system that
 * answers ENOENT although the parent exists, such as /proc: it creates the parent again and again.
 * @param mode of each folder that is created, less the bits of the umask
 * @throws the error of the system
 */
export function createFolder(path: string, mode = 0o777): void {
  if (isCreated(path, mode)) return;
  createFolder(dirname(path), mode);
  if (!isCreated(path, mode)) throw notCreatable(path);
}

/** @returns false: the parent does not exist */
function isCreated(path: string, mode: number): boolean {
  try {
    mkdirSync(path, mode);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && path !== dirname(path)) return false;
    // A file system that cannot be written answers EROFS or EACCES also for a folder that exists.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return true;
    throw error;
  }
}

function notCreatable(path: string): NodeJS.ErrnoException {
  const text = `cannot create ${path}: its file system does not allow new folders there`;
  return Object.assign(new Error(text), { code: 'ENOENT', syscall: 'mkdir', path });
}
