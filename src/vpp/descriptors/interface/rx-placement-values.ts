/** Compares the desired threads of receive queues with those that VPP reports. */
import type { InterfaceRxPlacement } from '#models/vpp/interface.gen.ts';

/** Thread of one receive queue, as VPP reports it: 0 is the main thread, the workers follow. */
export interface QueueThread {
  readonly queue: number;
  readonly thread: number;
}

const MAIN_THREAD = 0;

/**
 * The threads of the desired queues, in the spelling of the desired value where both are equivalent.
 * @param hasWorkers without workers, worker 0 is the main thread
 */
export function adoptRxPlacements(
  found: readonly QueueThread[],
  desired: readonly InterfaceRxPlacement[],
  hasWorkers: boolean,
): readonly InterfaceRxPlacement[] {
  const threadOf = ({ main_thread, worker }: InterfaceRxPlacement): number => {
    if (main_thread) return MAIN_THREAD;
    return hasWorkers ? worker + 1 : worker;
  };
  return desired.flatMap((asked) => {
    const thread = found.find(({ queue }) => queue === asked.queue)?.thread;
    if (thread === undefined) return [];
    if (thread === threadOf(asked)) return [asked];
    const onMain = thread === MAIN_THREAD;
    return [{ queue: asked.queue, worker: onMain ? 0 : thread - 1, main_thread: onMain }];
  });
}
