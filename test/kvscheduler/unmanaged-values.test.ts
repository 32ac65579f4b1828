/**
 * Values that come from the southbound and from the northbound in turns, under the same keys: what
 * was reported is taken over by a wish, with all that is derived from it.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { seededRandom } from '#infra/clock/manual.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { type Bench, setUp } from './support/setup.ts';
import { baseOf, type Spec } from './support/southbound.ts';

const FILE = 'test/kvscheduler/unmanaged-values.test.ts';
const keys = ['a/1', 'a/2', 'b/1', 'b/2'];
const needed = [...keys, 'p/a1', 'p/b1', 'd/a1.0'];

interface Turn {
  readonly key: string;
  readonly value: Spec | null;
  /** The northbound wishes it; else the southbound brings it, unless it is managed already. */
  readonly wished: boolean;
  /** What comes after it. */
  readonly resync: 'full-resync' | 'downstream-resync' | undefined;
}

const turns: fc.Arbitrary<Turn> = fc.constantFrom(...keys).chain((key) => {
  const name = key.replace('/', '');
  const foreign = needed.filter((one) => one !== key && baseOf(one) !== key);
  const derives = fc
    .subarray([`d/${name}.0`, `p/${name}`])
    .map((own) => Object.fromEntries(own.map((one) => [one, { v: 1 }])));
  const value = fc.record({
    v: fc.nat(2),
    needs: fc.array(fc.constantFrom(...foreign), { maxLength: 2 }),
    any: fc.constantFrom<string[]>([], [], ['b/'], ['p/']),
    derives,
  });
  return fc.record({
    key: fc.constant(key),
    value: fc.option(value, { freq: 3 }),
    wished: fc.boolean(),
    resync: fc.constantFrom(undefined, undefined, undefined, 'full-resync', 'downstream-resync'),
  });
});

test('the window does not change the outcome, and nothing is left to reconcile', async ({
  name,
}) => {
  await checkProperty(
    { file: FILE, name },
    150,
    fc.asyncProperty(fc.array(turns, { maxLength: 8 }), fc.nat(), async (script, seed) => {
      const serial = setUp({ window: 1 });
      const wide = setUp({ window: 100 });
      wide.southbound.replies = seededRandom(seed);
      for (const turn of script) {
        await take(serial, turn);
        await take(wide, turn);
        assert.deepEqual(pictureOf(wide), pictureOf(serial));
        assert.deepEqual(serial.southbound.violations, []);
        assert.deepEqual(wide.southbound.violations, []);
      }
      assert.deepEqual(await serial.calls({}, { mode: 'downstream-resync' }), []);
    }),
  );
});

async function take(bench: Bench, { key, value, wished, resync }: Turn): Promise<void> {
  const { southbound } = bench;
  if (wished) await bench.commit({ [key]: value });
  else if (!southbound.desired.has(key)) await report(bench, key, value);
  if (resync === 'full-resync')
    await bench.commit(Object.fromEntries(southbound.desired), { mode: resync });
  else if (resync) await bench.commit({}, { mode: resync });
}

async function report(bench: Bench, key: string, value: Spec | null): Promise<void> {
  const { southbound, scheduler } = bench;
  for (const own of [...southbound.values.keys()])
    if (baseOf(own) === key) southbound.changeExternally(own, null);
  southbound.changeExternally(key, value);
  for (const [own, derived] of Object.entries(value?.derives ?? {}))
    if (own.startsWith('d/')) southbound.changeExternally(own, derived);
  scheduler.pushNotification([{ key, value, metadata: 5 }]);
  // A notification has no answer: what comes after it in the queue tells that it was run.
  await scheduler.dump('SB', { descriptor: 'alpha' });
}

function pictureOf({ southbound, scheduler }: Bench): object {
  const states = scheduler
    .statuses()
    .flatMap(({ value, derived_values = [] }) => [value, ...derived_values])
    .map(({ key, state, details }) => ({ key, state, details }));
  return { standing: southbound.contents(), states };
}

test('derived values of a reported value are deleted when the northbound takes it over without them', async () => {
  const bench = setUp({ window: 1 });
  await report(bench, 'a/1', { v: 1, derives: { 'd/a1.0': { v: 1 }, 'd/a1.1': { v: 1 } } });
  assert.equal(bench.state('d/a1.0'), 'OBTAINED');
  const wish = { v: 2, derives: { 'd/a1.1': { v: 2 } } };
  assert.deepEqual(await bench.calls({ 'a/1': wish }), [
    'DELETE d/a1.0',
    'UPDATE a/1',
    'UPDATE d/a1.1',
  ]);
  assert.equal(bench.state('d/a1.1'), 'CONFIGURED');
  assert.deepEqual(await bench.calls({ 'a/1': null }), ['DELETE d/a1.1', 'DELETE a/1']);
  assert.deepEqual(bench.southbound.contents(), {});
});
