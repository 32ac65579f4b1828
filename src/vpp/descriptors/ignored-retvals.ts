/**
 * Return values that mean that VPP is already in the requested state. An operation may be repeated
 * after a crash, and a deleted interface takes its addresses, routes and bridge ports with it.
 */
import { VppRefusedError } from '../binapi/retval-error.ts';

const INVALID_SW_IF_INDEX = -2;
const NO_SUCH_FIB = -3;
const NO_SUCH_ENTRY = -6;
const NO_SUCH_TABLE = -65;

/** For deletes: the object, or the object that it was attached to, does not exist. */
export async function ignoreNotFound(request: Promise<unknown>): Promise<void> {
  await ignoreRetvals(request, [INVALID_SW_IF_INDEX, NO_SUCH_FIB, NO_SUCH_ENTRY, NO_SUCH_TABLE]);
}

/** @returns whether VPP answered with one of them */
export async function ignoreRetvals(
  request: Promise<unknown>,
  tolerated: readonly number[],
): Promise<boolean> {
  try {
    await request;
    return false;
  } catch (thrown) {
    if (!(thrown instanceof VppRefusedError) || !tolerated.includes(thrown.retval)) throw thrown;
    return true;
  }
}
