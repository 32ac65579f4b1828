/** The socket of VPP's binary API, on which it accepts connections as soon as it forwards packets. */
import type { Clock } from '#infra/clock/clock.ts';
import { isAnswered } from '#infra/process/socket.ts';
import { VppNotReadyError, VppRunningError } from './errors.ts';

const POLL_MS = 100;
/** A VPP with many huge pages and NICs takes about 10 s, on a busy machine up to a minute. One that ends is noticed. */
const READY_LIMIT_MS = 300_000;
/** The VPP of a contiv-init that was killed ends with it, but frees its memory first. */
const EARLIER_LIMIT_MS = 5_000;

/** @throws VppNotReadyError, and the reason of `stop` */
export async function whenAccepting(path: string, clock: Clock, stop: AbortSignal): Promise<void> {
  const end = clock.monotonic() + READY_LIMIT_MS;
  while (!(await isAnswered(path))) {
    if (clock.monotonic() >= end)
      throw new VppNotReadyError(
        `VPP accepts no connection on its binary API within ${READY_LIMIT_MS / 1000} s`,
        { where: path },
      );
    await clock.sleep(POLL_MS, stop);
  }
}

/** Waits for the end of an earlier VPP. @throws VppRunningError, and the reason of `stop` */
export async function whenFree(path: string, clock: Clock, stop: AbortSignal): Promise<void> {
  const end = clock.monotonic() + EARLIER_LIMIT_MS;
  while (await isAnswered(path)) {
    if (clock.monotonic() >= end)
      throw new VppRunningError('another VPP runs on this node and uses the socket', {
        where: path,
      });
    await clock.sleep(POLL_MS, stop);
  }
}
