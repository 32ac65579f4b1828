/** Which receive queues move to another worker of VPP. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type LoadedQueue, queueMoves } from '#vpp/workers/queue-moves.ts';

const IDLE = 1000;

function queues(...loads: readonly (readonly [worker: number, load: number])[]): LoadedQueue[] {
  return loads.map(([worker, load], swIfIndex) => ({
    swIfIndex,
    queue: 0,
    worker,
    load,
    isMovable: true,
  }));
}

const idle = (...workers: readonly number[]) =>
  queues(...workers.map((worker) => [worker, IDLE] as const));

function after(all: readonly LoadedQueue[], workers: number): readonly number[] {
  const moves = queueMoves(all, workers);
  const loads = Array.from({ length: workers }, () => 0);
  for (const { swIfIndex, worker, load } of all)
    loads[moves.find((move) => move.swIfIndex === swIfIndex)?.to ?? worker]! += load;
  return loads;
}

describe('receive queues of several workers', () => {
  it('stay where the workers have about the same to do', () => {
    assert.deepEqual(queueMoves([], 2), []);
    assert.deepEqual(queueMoves(idle(0, 1, 0, 1, 0), 2), []);
    assert.deepEqual(queueMoves(queues([0, 10_000], [1, 11_000]), 2), []);
  });

  it('are spread by their number while they are idle', () => {
    assert.deepEqual(after(idle(...Array(10).fill(0)), 2), [5000, 5000]);
    assert.deepEqual(after(idle(...Array(7).fill(1)), 3), [2000, 3000, 2000]);
    assert.deepEqual(after(idle(...Array(3).fill(0)), 2), [2000, 1000]);
  });

  it('are spread by their packets', () => {
    const two = queues([0, 900_000], [0, 800_000], [1, IDLE], [1, IDLE]);
    assert.deepEqual(queueMoves(two, 2), [{ swIfIndex: 1, queue: 0, to: 1 }]);
    const one = queues([0, 900_000], [0, IDLE], [0, IDLE], [1, IDLE]);
    // the busy one is alone on its worker
    assert.deepEqual([...after(one, 2)].sort(), [3 * IDLE, 900_000]);
  });

  it('stay if no move makes the difference smaller', () => {
    assert.deepEqual(queueMoves(queues([0, 900_000], [1, IDLE]), 2), []);
  });

  it('stay where they cannot be moved, and their load counts', () => {
    const uplink = { ...queues([0, 100_000])[0]!, swIfIndex: 9, isMovable: false };
    const all = [uplink, ...idle(0, 0, 1)];
    const moves = queueMoves(all, 2);
    assert.deepEqual(
      moves.map(({ swIfIndex, to }) => [swIfIndex, to]),
      [
        [0, 1],
        [1, 1],
      ],
    );
  });
});
