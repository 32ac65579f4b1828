import koffi from 'koffi';
import { Refusal } from '../netlink/refusal.ts';

const libc = koffi.load(null);
const setLimit = libc.func('int setrlimit(int resource, const uint64_t *limits)') as (
  resource: number,
  limits: BigUint64Array,
) => number;

const RLIMIT_MEMLOCK = 8;
const RLIM_INFINITY = 0xffff_ffff_ffff_ffffn;

/**
 * Lifts the limit of locked memory of this process, as which maps and programs count before Linux 5.11. Child processes
 * that are started later have it, too.
 * @throws Refusal without CAP_SYS_RESOURCE, if there is a limit
 */
function liftLockedMemoryLimit(): void {
  const softAndHard = BigUint64Array.of(RLIM_INFINITY, RLIM_INFINITY);
  if (setLimit(RLIMIT_MEMLOCK, softAndHard) < 0) throw new Refusal(koffi.errno());
}

/** Newer kernels do not need it: that the limit stays is a fault only if the kernel refuses a map. */
export function isLockedMemoryLifted(): boolean {
  try {
    liftLockedMemoryLimit();
    return true;
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    return false;
  }
}

/** A possible cause of a refusal to a process whose limit is not lifted; empty: it is none. */
export function lockedMemoryText(thrown: unknown): string {
  return thrown instanceof Refusal && thrown.errno === 'EPERM'
    ? '; before Linux 5.11 maps and programs count as locked memory, whose limit the agent cannot lift without CAP_SYS_RESOURCE'
    : '';
}
