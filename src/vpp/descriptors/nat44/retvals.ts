/** Answers of VPP that mean: what was asked for is so already. */
import { except } from '../tolerated.ts';

const invalidSwIfIndex = -2;
const noSuchEntry = -6;
/** Of everything while the plugin is not enabled. */
const unsupported = -126;
const alreadyDisabled = -169;
const alreadyEnabled = -170;

/** For deletes: the thing, what it was attached to, or all of NAT44 is not there. */
export async function unlessGone(request: Promise<unknown>): Promise<void> {
  await except(request, [invalidSwIfIndex, noSuchEntry, unsupported]);
}

export async function unlessEnabled(request: Promise<unknown>): Promise<void> {
  await except(request, [alreadyEnabled]);
}

export async function unlessDisabled(request: Promise<unknown>): Promise<void> {
  await except(request, [alreadyDisabled]);
}
