/**
 * Answers of VPP that mean: what was asked for is so already. An operation may be repeated after a
 * crash, and an interface that goes takes its addresses, routes and bridge ports along.
 */
import { VppRefusedError } from '../binapi/retval-error.ts';

const INVALID_SW_IF_INDEX = -2;
const NO_SUCH_FIB = -3;
const NO_SUCH_ENTRY = -6;
const NO_SUCH_TABLE = -65;

/** For deletes: the thing itself, or what it was attached to, is not there. */
export async function ignoreNotFound(request: Promise<unknown>): Promise<void> {
  await ignoreRetvals(request, [INVALID_SW_IF_INDEX, NO_SUCH_FIB, NO_SUCH_ENTRY, NO_SUCH_TABLE]);
}

export async function ignoreRetvals(
  request: Promise<unknown>,
  tolerated: readonly number[],
): Promise<void> {
  try {
    await request;
  } catch (thrown) {
    if (!(thrown instanceof VppRefusedError) || !tolerated.includes(thrown.retval)) throw thrown;
  }
}
