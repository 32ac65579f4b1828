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
export function liftLockedMemoryLimit(): void {
  const softAndHard = BigUint64Array.of(RLIM_INFINITY, RLIM_INFINITY);
  if (setLimit(RLIMIT_MEMLOCK, softAndHard) < 0) throw new Refusal(koffi.errno());
}
