import assert from 'node:assert/strict';
import test from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { Slices } from '#infra/clock/slices.ts';
import { WritableGraph } from '#kvscheduler/graph/graph.ts';

/** Each unit of work is a slice. */
class SingleUnits extends Slices {
  turns = 0;

  override due(): boolean {
    return true;
  }

  override async turn(): Promise<void> {
    this.turns++;
  }
}

test('a graph is copied in slices, also what is known of its nodes', async () => {
  const graph = new WritableGraph(new Map());
  for (let i = 0; i < 10; i++) {
    const node = graph.add(`a/${i}`, undefined, undefined);
    graph.setFailed(node);
    graph.rejected.add(node);
    graph.blocked.add(node);
    graph.setOutcomeUnknown(node, {});
  }
  const slices = new SingleUnits(new ManualClock());
  const copy = await graph.copy(slices);
  assert.equal(slices.turns, 50);
  const keys = [...copy.blocked].map(({ key }) => key);
  assert.deepEqual(
    keys,
    [...graph.blocked].map(({ key }) => key),
  );
  assert.equal(copy.rejected.size, 10);
  assert.ok(!copy.rejected.has(graph.get('a/1')!), 'the copy has nodes of its own');
});
