/** Answers of VPP that mean: what was asked for is so already. */
import { ignoreRetvals } from '../ignored-retvals.ts';

const INVALID_SW_IF_INDEX = -2;
const NO_SUCH_ENTRY = -6;
/** Of everything while the plugin is not enabled. */
const UNSUPPORTED = -126;
const ALREADY_DISABLED = -169;
const ALREADY_ENABLED = -170;

/** For deletes: the thing, what it was attached to, or all of NAT44 is not there. */
export async function ignoreNotFound(request: Promise<unknown>): Promise<void> {
  await ignoreRetvals(request, [INVALID_SW_IF_INDEX, NO_SUCH_ENTRY, UNSUPPORTED]);
}

export async function ignoreAlreadyEnabled(request: Promise<unknown>): Promise<void> {
  await ignoreRetvals(request, [ALREADY_ENABLED]);
}

export async function ignoreAlreadyDisabled(request: Promise<unknown>): Promise<void> {
  await ignoreRetvals(request, [ALREADY_DISABLED]);
}
