/**
 * Requirements of every descriptor, checked with example values: create, read back equal, change, delete
 * without residue, leave nothing if any message fails, and reach the same state after a crash at any
 * message.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { AnyDescriptor, KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { SkipReason } from '#test/support/requirements.ts';
import type { Requests } from '#vpp/binapi/messages.gen.ts';
import { Driver, descriptorOf, isManaged, readBack } from './driver.ts';

export interface Example {
  readonly name: string;
  /** Prerequisites. */
  readonly setup?: readonly KeyedValue[];
  readonly value: KeyedValue;
  /** Another value of the same key. */
  readonly change?: {
    readonly to: object;
    /** Whether it is done without taking the old one away. */
    readonly inPlace: boolean;
  };
  /** Worth its time on a backend where every message takes milliseconds. */
  readonly essential?: true;
  /** Uses an unmanaged object: once it is not desired, nothing shows that the agent used it. */
  readonly isUnmarked?: true;
  /** VPP must be able to create TAPs. */
  readonly requiresTaps?: true;
  /** Message that VPP must have: earlier releases lack it. */
  readonly requires?: keyof Requests;
}

/** A southbound in a state that nothing else changes. */
export interface Backend {
  readonly name: string;
  /** Why it cannot create TAPs; absent: it can. */
  readonly withoutTaps?: SkipReason;
  /** Whether it has a message; absent: all. */
  has?(message: keyof Requests): boolean;
  /** Refusals and crashes are tried with the essential examples only. */
  readonly slow?: true;
  /** New descriptors, as after a restart of the agent. */
  descriptors(): readonly AnyDescriptor[];
  /** Everything that descriptors can change, in a form to be compared. */
  state(): Promise<unknown>;
  /** The n-th change from now on (from 1) is refused once; 0 switches it off. */
  refuse(n: number): void;
  /** From the n-th change on nothing gets through any more, until 0 switches it off. */
  cut(n: number): void;
  /** Number of the changes requested since the last `refuse` or `cut`. */
  readonly changes: number;
  /** Their names. */
  readonly requested: readonly string[];
  /** Names of the dumps and reading requests since then; absent on Linux. */
  readonly read?: readonly string[];
  stop(): Promise<void>;
}

const MAX_MESSAGES = 40;

/** @param release of which it is a proof */
export function complianceSuite(
  start: () => Promise<Backend>,
  examples: readonly Example[],
  release = '',
): void {
  describe(`compliance ${release}`.trim(), () => {
    let backend: Backend;
    before(async () => {
      backend = await start();
    });
    after(() => backend?.stop());

    for (const example of examples) {
      test(example.name, async (context) => {
        const { withoutTaps = false } = backend;
        if (example.requiresTaps && withoutTaps) return context.skip(withoutTaps);
        const { requires } = example;
        if (requires && backend.has?.(requires) === false)
          return context.skip(`this VPP has no ${requires}`);
        // a failure must not be the next example's
        context.after(() => new Driver(backend.descriptors()).resync([]));
        await context.test('is created, read back, changed and deleted', () =>
          lifeCycle(backend, example),
        );
        if (backend.slow === true && example.essential !== true) return;
        await context.test('leaves nothing when a message is refused', () =>
          refusals(backend, example),
        );
        await context.test('survives a crash at any message', () => crashes(backend, example));
      });
    }
  });
}

async function prepared(backend: Backend, example: Example): Promise<Driver> {
  const driver = new Driver(backend.descriptors());
  for (const { key, value } of example.setup ?? []) await driver.put(key, value);
  assert.deepEqual(driver.pending, [], 'setup is pending');
  return driver;
}

async function clear(driver: Driver): Promise<void> {
  for (const { key } of [...driver.desired].reverse()) await driver.delete(key);
}

async function assertReadsBack(backend: Backend, wanted: readonly KeyedValue[]): Promise<void> {
  const descriptors = backend.descriptors();
  const { values: found, leftovers } = await readBack(descriptors, wanted);
  assert.deepEqual(leftovers, []);
  const ours = [...found.values()].filter((each) => isManaged(each, wanted));
  assert.deepEqual(ours.map(({ key }) => key).sort(), wanted.map(({ key }) => key).sort());
  // the scheduler also correlates with unmanaged values that it found before
  const { values: again } = await readBack(descriptors, [
    ...found.values(),
    ...wanted.filter((w) => !found.has(w.key)),
  ]);
  for (const [key, { origin }] of found) assert.equal(again.get(key)?.origin, origin, key);
  for (const { key, value } of wanted) {
    assert.deepEqual(found.get(key)?.value, value, key);
    const same = descriptorOf(descriptors, key)?.equivalent;
    assert.ok(same?.(key, found.get(key)?.value, value) ?? true, `${key} is equivalent to itself`);
  }
}

async function lifeCycle(backend: Backend, example: Example): Promise<void> {
  const start = await backend.state();
  const driver = await prepared(backend, example);
  const setup = await backend.state();
  const { key, value } = example.value;
  await driver.put(key, value);
  assert.deepEqual(driver.pending, [], 'pending');
  await assertReadsBack(backend, driver.desired);

  await aSecondResyncDoesNothing(backend, driver);
  if (example.change !== undefined) {
    const metadata = driver.metadata(key);
    driver.log.length = 0;
    await driver.put(key, example.change.to);
    const kinds = driver.log.filter((each) => each.key === key).map(({ kind }) => kind);
    const inPlace = !kinds.includes('delete');
    assert.equal(inPlace, example.change.inPlace, `operations: ${kinds.join(', ')}`);
    if (inPlace) {
      const index = (each: unknown): unknown => (each as { swIfIndex?: number })?.swIfIndex;
      assert.equal(index(driver.metadata(key)), index(metadata), 'same sw_if_index');
    }
    assert.deepEqual(driver.pending, [], 'pending after the change');
    await assertReadsBack(backend, driver.desired);
    // and back again
    await driver.put(key, value);
    await assertReadsBack(backend, driver.desired);
  }
  const known = new Map(driver.keys.map((each) => [each, driver.metadata<unknown>(each)]));
  const derived = driver.descriptorOf(key)?.derived?.(key, value) ?? [];
  await driver.delete(key);
  assert.deepEqual(await backend.state(), setup, 'left behind by the value');
  await deleteTwice(driver, [...derived, { key, value }], known);
  assert.deepEqual(await backend.state(), setup, 'changed by deleting what is not there');
  await assertReadsBack(backend, driver.desired);
  await clear(driver);
  assert.deepEqual(await backend.state(), start, 'left behind by the setup');
}

/** An operation may come twice, after a crash or where a base took what was derived along. */
async function deleteTwice(
  driver: Driver,
  values: readonly KeyedValue[],
  known: ReadonlyMap<string, unknown>,
): Promise<void> {
  const context = {
    metadata: <M>(key: string): M => known.get(key) as M,
    metBy: () => undefined,
  };
  for (const { key, value } of values) {
    await driver.descriptorOf(key)?.delete?.(key, value, known.get(key), context);
  }
}

async function aSecondResyncDoesNothing(backend: Backend, driver: Driver): Promise<void> {
  const again = new Driver(backend.descriptors());
  const before = await backend.state();
  backend.cut(0);
  await again.resync(driver.desired);
  assert.deepEqual(again.log, [], 'a second resync does nothing');
  assert.equal(backend.changes, 0, 'a second resync sends nothing');
  assert.deepEqual(await backend.state(), before);
}

/** Refuses the first, the second, … message of the value, until there are no more. */
async function refusals(backend: Backend, example: Example): Promise<void> {
  const start = await backend.state();
  const { key, value } = example.value;
  for (let n = 1; n <= MAX_MESSAGES; n++) {
    const driver = await prepared(backend, example);
    const left: { readonly by: string; readonly before: unknown; readonly after: unknown }[] = [];
    driver.aroundCreate = async (created, create) => {
      const before = await backend.state();
      try {
        return await create();
      } catch (failure) {
        left.push({ by: created, before, after: await backend.state() });
        throw failure;
      }
    };
    backend.refuse(n);
    const failed = await driver.put(key, value).then(
      () => false,
      () => true,
    );
    const { changes } = backend;
    backend.refuse(0);
    if (failed) assert.equal(left.length, 1, `message ${n}: failed outside of a create`);
    for (const { by, before, after } of left) {
      assert.deepEqual(after, before, `message ${n}: left by ${by}`);
    }
    if (n === 1) assert.ok(failed || changes === 0, 'the first message was refused');
    await clear(driver);
    assert.deepEqual(await backend.state(), start, `message ${n}: left behind`);
    if (changes < n) return;
  }
  assert.fail('more messages than the test counts');
}

/** Lets the agent die before its first, second, … message got through, and another one start. */
async function crashes(backend: Backend, example: Example): Promise<void> {
  const start = await backend.state();
  const { key, value } = example.value;
  for (let n = 1; n <= MAX_MESSAGES; n++) {
    const dying = await prepared(backend, example);
    backend.cut(n);
    await dying.put(key, value).catch(() => undefined);
    const { changes } = backend;
    backend.cut(0);

    const wanted = [...(example.setup ?? []), example.value];
    const next = new Driver(backend.descriptors());
    await next.resync(wanted);
    assert.deepEqual(next.pending, [], `crash at ${n}: pending`);
    await assertReadsBack(backend, wanted);
    await aSecondResyncDoesNothing(backend, next);

    if (example.isUnmarked === true) await clear(next);
    // an agent that desires nothing finds all managed objects
    const last = new Driver(backend.descriptors());
    await last.resync([]);
    assert.deepEqual(await backend.state(), start, `crash at ${n}: not recognized as managed`);
    if (changes < n) return;
  }
  assert.fail('more messages than the test counts');
}
