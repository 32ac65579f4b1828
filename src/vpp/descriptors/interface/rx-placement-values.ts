/** Which thread serves a receive queue: what is asked, and what VPP reports. */
import type { InterfaceRxPlacement } from '#models/vpp/interface.gen.ts';

/** Thread of one receive queue as VPP reports it: 0 is the main one, the workers follow. */
export interface QueueThread {
  readonly queue: number;
  readonly thread: number;
}

const MAIN_THREAD = 0;

/**
 * What was found of the queues that were asked about, written as it was wanted where that means the
 * same.
 * @param hasWorkers without any, worker 0 is the main thread
 */
export function adoptRxPlacements(
  found: readonly QueueThread[],
  wanted: readonly InterfaceRxPlacement[],
  hasWorkers: boolean,
): readonly InterfaceRxPlacement[] {
  const threadOf = ({ main_thread, worker }: InterfaceRxPlacement): number => {
    if (main_thread) return MAIN_THREAD;
    return hasWorkers ? worker + 1 : worker;
  };
  return wanted.flatMap((asked) => {
    const thread = found.find(({ queue }) => queue === asked.queue)?.thread;
    if (thread === undefined) return [];
    if (thread === threadOf(asked)) return [asked];
    const onMain = thread === MAIN_THREAD;
    return [{ queue: asked.queue, worker: onMain ? 0 : thread - 1, main_thread: onMain }];
  });
}
