/** Return values that mean that NAT44 is already in the requested state. */
import { ignoreRetvals } from '../ignored-retvals.ts';

const INVALID_SW_IF_INDEX = -2;
const NO_SUCH_ENTRY = -6;
/** Answer to every request while the plugin is disabled. */
const UNSUPPORTED = -126;
const ALREADY_DISABLED = -169;
const ALREADY_ENABLED = -170;

/** For deletes: the object or its interface does not exist, or NAT44 is disabled. */
export async function ignoreNotFound(request: Promise<unknown>): Promise<void> {
  await ignoreRetvals(request, [INVALID_SW_IF_INDEX, NO_SUCH_ENTRY, UNSUPPORTED]);
}

/** @returns whether it was enabled already */
export async function ignoreAlreadyEnabled(request: Promise<unknown>): Promise<boolean> {
  return ignoreRetvals(request, [ALREADY_ENABLED]);
}

export async function ignoreAlreadyDisabled(request: Promise<unknown>): Promise<void> {
  await ignoreRetvals(request, [ALREADY_DISABLED]);
}
