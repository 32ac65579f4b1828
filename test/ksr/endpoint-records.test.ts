/** How often the record of a service with many EndpointSlices is computed: each time costs all of its slices. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Clock } from '#infra/clock/clock.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { createReflector } from '#ksr/records/reflector.ts';
import { slice } from './support/objects.ts';
import { PREFIX } from './support/reflected-cluster.ts';

function endpointRecords(clock: Clock = new ManualClock()) {
  const { watches, records } = createReflector({
    prefix: PREFIX,
    readers: 'mixed',
    clock,
    log: silentLogger,
  });
  const handlersOf = (name: string) => watches.find(({ kind }) => kind.kind === name)!.handlers;
  const { table } = records.find(({ name }) => name === 'Endpoints')!;
  const changes: string[] = [];
  table.listen(
    (key) => changes.push(key.split('/')[5]!),
    () => changes.push('complete'),
  );
  handlersOf('Endpoints').listing();
  handlersOf('Endpoints').listed();
  const addresses = (service: string) =>
    (table.get(`${PREFIX}k8s/endpoints/${service}/namespace/default`) as string).match(/"ip"/g)
      ?.length;
  return { slices: handlersOf('EndpointSlice'), changes, addresses };
}

/** Slices of a service, sorted by name, as in a list. */
const slicesOf = (service: string, count: number) =>
  Array.from({ length: count }, (_, i) => slice(`${service}-${i}`, service, `10.1.1.${i + 1}`));

describe('the record of a service with many slices', () => {
  it('is computed once for a list that comes in parts', () => {
    const { slices, changes, addresses } = endpointRecords();
    const objects = [...slicesOf('s1', 9), ...slicesOf('s2', 7), ...slicesOf('s3', 1)];
    slices.listing();
    for (let at = 0; at < objects.length; at += 4) slices.changed(objects.slice(at, at + 4));
    assert.deepEqual(changes, ['s1', 's2']);
    slices.listed();
    assert.deepEqual(changes, ['s1', 's2', 's3', 'complete']);
    assert.deepEqual(['s1', 's2', 's3'].map(addresses), [9, 7, 1]);
  });

  it('is computed once for changes that come together, and at once', () => {
    const { slices, changes, addresses } = endpointRecords();
    slices.listing();
    slices.listed();
    changes.length = 0;
    slices.changed(slicesOf('s1', 9));
    assert.deepEqual(changes, ['s1']);
    assert.equal(addresses('s1'), 9);
    slices.deleted({ namespace: 'default', name: 's1-0' });
    assert.deepEqual(changes, ['s1', 's1']);
    assert.equal(addresses('s1'), 8);
  });

  it('is computed once when a list shows that slices were deleted', () => {
    const { slices, changes, addresses } = endpointRecords();
    slices.listing();
    slices.changed(slicesOf('s1', 9));
    slices.listed();
    changes.length = 0;
    slices.listing();
    slices.changed(slicesOf('s1', 4));
    slices.listed();
    assert.deepEqual(changes, ['s1']);
    assert.equal(addresses('s1'), 4);
  });

  it('has what a list has shown before it broke off, when the next one begins', () => {
    const { slices, changes, addresses } = endpointRecords();
    slices.listing();
    slices.changed(slicesOf('s1', 4));
    slices.listing();
    assert.deepEqual(changes, ['s1']);
    assert.equal(addresses('s1'), 4);
  });

  it('is computed with turns of the event loop in between, and follows what changes meanwhile', async () => {
    /** Each step takes a millisecond. */
    class SlowSteps extends ManualClock {
      turns = 0;
      #reads = 0;
      override monotonic(): number {
        return this.#reads++;
      }
      override turn(): Promise<void> {
        this.turns++;
        return super.turn();
      }
    }
    const clock = new SlowSteps();
    const { slices, changes, addresses } = endpointRecords(clock);
    const turned = async (times: number) => {
      for (let i = 0; i < times; i++) await new Promise((resolve) => setImmediate(resolve));
    };
    slices.listing();
    slices.changed(slicesOf('s1', 200));
    slices.listed();
    assert.deepEqual(changes, [], 'not complete before it is computed');
    await turned(1000);
    assert.deepEqual(changes, ['s1', 'complete']);
    assert.equal(addresses('s1'), 200);
    assert.ok(clock.turns > 100, `${clock.turns} turns`);

    changes.length = 0;
    slices.changed(slicesOf('s1', 1).map((one) => ({ ...one, endpoints: [] })));
    await turned(2);
    slices.deleted({ namespace: 'default', name: 's1-1' });
    await turned(1000);
    assert.deepEqual(changes, ['s1', 's1']);
    assert.equal(addresses('s1'), 198);
    slices.deleted({ namespace: 'default', name: 's1-2' });
    await turned(2);
    slices.interrupted();
    slices.listing();
    slices.listed();
    assert.deepEqual(changes, ['s1', 's1'], 'not yet');
    await turned(1000);
    assert.deepEqual(changes, ['s1', 's1', 's1', 's1', 'complete']);
    assert.throws(() => addresses('s1'), 'no slice is left');
  });
});
