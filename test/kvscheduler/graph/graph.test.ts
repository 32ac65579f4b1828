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

test('a base that is removed does not wait for a contended key any more', async () => {
  const graph = new WritableGraph(new Map());
  const [first, second] = ['a/1', 'a/2'].map((key) => graph.add(key, undefined, undefined));
  for (const base of ['a/1', 'a/2']) graph.contended.add('d/1', base, false);
  graph.contended.add('d/2', 'a/2', true);
  graph.remove(first!);
  assert.deepEqual([...graph.contended.basesOf('d/1')], ['a/2']);
  const copy = await graph.copy(new SingleUnits(new ManualClock()));
  for (const one of [graph, copy]) {
    one.remove(one.get(second!.key)!);
    assert.equal(one.contended.has('d/1'), false);
    assert.equal(one.contended.has('d/2'), false);
    assert.equal(one.contended.free.size, 0);
  }
});
