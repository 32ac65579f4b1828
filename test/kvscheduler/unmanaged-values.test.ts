/**
 * Values that are reported by the southbound and set by the northbound in turns, under the same
 * keys: a desired value takes over the reported one, with all its derived values.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { seededRandom } from '#infra/clock/manual.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { type Bench, pass, setUp } from './support/setup.ts';
import { baseOf, type Spec } from './support/southbound.ts';

const FILE = 'test/kvscheduler/unmanaged-values.test.ts';
const keys = ['a/1', 'a/2', 'b/1', 'b/2'];
const needed = [...keys, 'p/a1', 'p/b1', 'd/a1.0'];

interface Turn {
  readonly key: string;
  readonly value: Spec | null;
  /** The northbound sets the value; otherwise the southbound reports it, unless it is managed. */
  readonly isDesired: boolean;
  /** Resync after the change. */
  readonly resync: 'full-resync' | 'downstream-resync' | undefined;
}

const turns: fc.Arbitrary<Turn> = fc.constantFrom(...keys).chain((key) => {
  const name = key.replace('/', '');
  const others = needed.filter((one) => one !== key && baseOf(one) !== key);
  const derives = fc
    .subarray([`d/${name}.0`, `p/${name}`])
    .map((own) => Object.fromEntries(own.map((one) => [one, { v: 1 }])));
  const value = fc.record({
    v: fc.nat(2),
    needs: fc.array(fc.constantFrom(...others), { maxLength: 2 }),
    any: fc.constantFrom<string[]>([], [], ['b/'], ['p/']),
    derives,
  });
  return fc.record({
    key: fc.constant(key),
    value: fc.option(value, { freq: 3 }),
    isDesired: fc.boolean(),
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

async function take(bench: Bench, { key, value, isDesired, resync }: Turn): Promise<void> {
  const { southbound } = bench;
  if (isDesired) await bench.commit({ [key]: value });
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
  // A notification has no answer: wait for a task that is queued after it.
  await scheduler.dump('SB', { descriptor: 'alpha' });
}

function pictureOf({ southbound, scheduler }: Bench): object {
  const states = scheduler
    .statuses()
    .flatMap(({ value, derived_values = [] }) => [value, ...derived_values])
    .map(({ key, state, details }) => ({ key, state, details }));
  return { contents: southbound.contents(), states };
}

test('derived values of a reported value are deleted when the northbound takes it over without them', async () => {
  const bench = setUp({ window: 1 });
  await report(bench, 'a/1', { v: 1, derives: { 'd/a1.0': { v: 1 }, 'd/a1.1': { v: 1 } } });
  assert.equal(bench.state('d/a1.0'), 'OBTAINED');
  const desired = { v: 2, derives: { 'd/a1.1': { v: 2 } } };
  assert.deepEqual(await bench.calls({ 'a/1': desired }), [
    'DELETE d/a1.0',
    'UPDATE a/1',
    'UPDATE d/a1.1',
  ]);
  assert.equal(bench.state('d/a1.1'), 'CONFIGURED');
  assert.deepEqual(await bench.calls({ 'a/1': null }), ['DELETE d/a1.1', 'DELETE a/1']);
  assert.deepEqual(bench.southbound.contents(), {});
});

test('a reported value is taken over even if a failure keeps its update from being executed', async () => {
  const bench = setUp();
  const retry = { periodMs: 10, maxAttempts: 1, exponential: false };
  await report(bench, 'a/f', { v: 1 });
  let failures = 1;
  bench.southbound.fails = (verb, key) =>
    `${verb} ${key}` === 'CREATE a/9' && failures-- > 0 ? new Error('no') : undefined;
  const desired = { 'a/f': { v: 2 }, 'a/9': { v: 1, needs: ['a/f'] } };
  assert.deepEqual(await bench.calls(desired, { retry }), ['CREATE a/9', 'UPDATE a/f']);
  assert.equal(bench.state('a/f'), 'CONFIGURED');
  await pass(bench, 20);
  assert.deepEqual(bench.southbound.contents(), { 'a/9': '1|a/f', 'a/f': '2' });
});

test('a reported value whose new dependency fails is pending until that is there', async () => {
  const bench = setUp();
  await report(bench, 'a/f', { v: 1 });
  bench.southbound.fails = (verb, key) =>
    `${verb} ${key}` === 'CREATE b/1' ? new Error('no') : undefined;
  await bench.commit({ 'a/f': { v: 2, needs: ['b/1'] }, 'b/1': { v: 1 } });
  assert.equal(bench.state('a/f'), 'PENDING [b/1]');
  bench.southbound.fails = () => undefined;
  await bench.commit({}, { mode: 'downstream-resync' });
  assert.deepEqual(bench.southbound.contents(), { 'a/f': '2|b/1', 'b/1': '1' });
});

test('an undone transaction leaves a reported value that it has taken over', async () => {
  const children = { 'd/af.0': { v: 1 }, 'd/af.1': { v: 1 } };
  const changes: Spec[] = [
    { v: 1, derives: children },
    { v: 2, derives: { 'd/af.1': { v: 2 } } },
    { v: 2, recreate: true },
    { v: 2, needs: ['b/9'] },
  ];
  for (const change of changes) {
    const bench = setUp();
    const { southbound } = bench;
    await report(bench, 'a/f', { v: 1, derives: children });
    await bench.commit({ 'a/1': { v: 1 }, 'b/9': { v: 1 }, 'b/1': { v: 1, needs: ['d/af.0'] } });
    const before = pictureOf(bench);
    southbound.fails = (verb, key) =>
      `${verb} ${key}` === 'UPDATE a/z' ? new Error('no') : undefined;
    await bench.commit({ 'a/z': { v: 1 } });
    const desired = { 'a/f': change, 'a/z': { v: 2, needs: ['a/f'] } };
    assert.deepEqual(await bench.commit(desired, { onFailure: 'revert' }), ['a/z (UPDATE): no']);
    await bench.commit({ 'a/z': null });
    // The southbound of the test marks what it was asked to change.
    for (const [key, stored] of southbound.values)
      if (/f(\.|$)/.test(key)) southbound.values.set(key, { ...stored, managed: false });
    assert.deepEqual(pictureOf(bench), before);
    await report(bench, 'a/f', null);
    assert.equal(bench.state('b/1'), 'PENDING [d/af.0]');
  }
});
