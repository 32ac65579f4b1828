/** Which receive queues move to another worker, so that none has much more to do than another. */

export interface LoadedQueue {
  readonly swIfIndex: number;
  readonly queue: number;
  /** From 0. */
  readonly worker: number;
  /** Packets in some time; above 0, also of an idle one, so that idle ones are spread by their number. */
  readonly load: number;
  readonly isMovable: boolean;
}

export interface QueueMove {
  readonly swIfIndex: number;
  readonly queue: number;
  readonly to: number;
}

/** Of the mean load of the workers: a smaller difference between two of them stays. */
const TOLERANCE = 0.2;
/** VPP stops for a moment for each. */
const MOST_MOVES = 32;

export function queueMoves(queues: readonly LoadedQueue[], workers: number): readonly QueueMove[] {
  const loads = Array.from({ length: workers }, () => 0);
  for (const { worker, load } of queues) loads[worker]! += load;
  const tolerated = (TOLERANCE * loads.reduce((a, b) => a + b, 0)) / workers;
  const placed = queues.filter(({ isMovable }) => isMovable).map((one) => ({ ...one }));
  const moves: QueueMove[] = [];
  while (moves.length < MOST_MOVES) {
    const [from, to] = [loads.indexOf(Math.max(...loads)), loads.indexOf(Math.min(...loads))];
    const difference = loads[from]! - loads[to]!;
    if (difference <= tolerated) break;
    const remaining = ({ load }: LoadedQueue) => Math.abs(difference - 2 * load);
    const [best] = placed
      .filter(({ worker, load }) => worker === from && load < difference)
      .sort((a, b) => remaining(a) - remaining(b));
    if (best === undefined) break;
    loads[from]! -= best.load;
    loads[to]! += best.load;
    best.worker = to;
    moves.push({ swIfIndex: best.swIfIndex, queue: best.queue, to });
  }
  return moves;
}
