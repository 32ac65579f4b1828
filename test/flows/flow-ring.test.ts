import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Flow } from '#documents/flows.ts';
import { type FlowRecord, FlowRing } from '#flows/flow-ring.ts';

function record(id: number, changedAt = 0): FlowRecord {
  return { flow: { id: String(id) } as Flow, changedAt };
}

const ids = (records: Iterable<FlowRecord>): number[] =>
  [...records].map(({ flow }) => Number(flow.id));

describe('the ring of flows', () => {
  it('has the newest records in the order of their last change', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }),
        (capacity, changes) => {
          const ring = new FlowRing(capacity);
          // each change appends; an id counts where it was last
          const last = new Map<number, number>();
          for (const [at, id] of changes.entries()) {
            ring.put(record(id, at));
            last.delete(id);
            last.set(id, at);
            // all that is older than 2 × capacity changes may go
            for (const [old, number] of last)
              if (last.size > capacity || at - number >= 2 * capacity) last.delete(old);
          }
          assert.ok(ring.size <= capacity);
          assert.deepEqual(ids(ring.newest(100, () => true)), [...last.keys()]);
          assert.deepEqual(ids([...ring.from(0)].map(([, one]) => one)), [...last.keys()]);
          for (const id of last.keys()) assert.equal(ring.get(String(id))?.changedAt, last.get(id));
        },
      ),
    );
  });

  it('gives a reader each change once', () => {
    const ring = new FlowRing(4);
    for (const id of [1, 2, 1, 3]) ring.put(record(id));
    const from = ring.next;
    ring.put(record(2));
    assert.deepEqual(ids([...ring.from(0)].map(([, one]) => one)), [1, 3, 2]);
    assert.deepEqual(ids([...ring.from(from)].map(([, one]) => one)), [2]);
  });

  it('limits what it selects to the newest', () => {
    const ring = new FlowRing(10);
    for (const id of [1, 2, 3, 4]) ring.put(record(id));
    assert.deepEqual(ids(ring.newest(2, ({ flow }) => flow.id !== '4')), [2, 3]);
  });
});
