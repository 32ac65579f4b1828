import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import koffi from 'koffi';

const libc = koffi.load(null);
const syscall = libc.func('long syscall(long number, long a, long b, void *c, long d)') as (
  number: number,
  a: number,
  b: number,
  c: null,
  d: number,
) => number;

// The same numbers on every architecture; the C library has had functions for them since 2022 only.
const PIDFD_SEND_SIGNAL = 424;
const PIDFD_OPEN = 434;

/**
 * A handle of a process that this one may not be the parent of. It never refers to another process,
 * also when the ID is used again.
 */
export class Pidfd {
  readonly #file: number;
  #isOpen = true;

  private constructor(file: number) {
    this.#file = file;
  }

  /** undefined: no process has the ID. @throws when the kernel refuses it for another reason */
  static open(pid: number): Pidfd | undefined {
    const file = syscall(PIDFD_OPEN, pid, 0, null, 0);
    if (file >= 0) return new Pidfd(file);
    const errno = koffi.errno();
    if (errno === constants.errno.ESRCH || errno === constants.errno.EINVAL) return undefined;
    throw new Error(`pidfd_open failed: errno ${errno}`);
  }

  /** 0 sends nothing. @returns whether the process exists @throws when the kernel refuses the signal */
  send(signal: NodeJS.Signals | 0): boolean {
    if (!this.#isOpen) return false;
    const number = signal === 0 ? 0 : constants.signals[signal];
    if (syscall(PIDFD_SEND_SIGNAL, this.#file, number, null, 0) === 0) return true;
    const errno = koffi.errno();
    if (errno === constants.errno.ESRCH) return false;
    // The process of another user exists, too.
    if (errno === constants.errno.EPERM && signal === 0) return true;
    throw new Error(`pidfd_send_signal failed: errno ${errno}`);
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#file);
    this.#isOpen = false;
  }
}
