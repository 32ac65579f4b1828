/** Keys of the nodes of a cluster are replaced at any time, with crashes: no two nodes are ever without a session. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import { type OwnKeys, type Slot, slots } from '#plugins/controller/api/ports/wireguard-keys.ts';
import type { OwnSlotKey } from '#plugins/ipv4net/api.ts';
import { keyReplacement } from '#plugins/ipv4net/key-replacement.ts';
import { keyTiming, nextKeyStep, slotOfWindow } from '#plugins/ipv4net/key-steps.ts';
import { slotKeys } from '#plugins/ipv4net/slot-keys.ts';
import { testKeyPair } from '#test/support/wireguard-keys.ts';
import { keysInMemory } from '#vpp/wireguard/key-file.ts';
import type { OwnKeyStore } from '#vpp/wireguard/own-keys.ts';
import { testKeys } from '../test-keys.ts';

const DAY = 24 * 3_600_000;
const TICK = 2_000;

const situation = {
  now: 0,
  lifetime: DAY,
  publishedFor: 3_600_000 as number | undefined,
  hasSessions: () => true,
  hasOnlySessions: () => false,
};

async function oldKeys(): Promise<OwnKeys> {
  const { keys } = await testKeys('a').ownKeys();
  return { keys };
}

/** A node: its keys, what the others read of it, and what it has done. */
class ReplacingNode {
  readonly file = keysInMemory();
  store: OwnKeyStore;
  publishedAt = 0;
  readonly #wallTime: () => number;
  readonly #seed: string;

  constructor(seed: string, wallTime: () => number) {
    this.#seed = seed;
    this.#wallTime = wallTime;
    this.store = this.#open(0);
  }

  #open(run: number): OwnKeyStore {
    return testKeys(`${this.#seed}/${run}`, { file: this.file, wallTime: this.#wallTime });
  }

  crash(run: number): void {
    this.store = this.#open(run);
    this.publishedAt = this.#wallTime();
  }

  /** @returns whether a step was taken */
  async tick(): Promise<boolean> {
    const now = this.#wallTime();
    const own = await this.store.ownKeys();
    const publishedFor = now - this.publishedAt;
    const step = nextKeyStep(own, { ...situation, now, publishedFor });
    if (step === undefined) return false;
    if (step.kind === 'begin') await this.store.setReplacement({ slot: step.slot, isNew: false });
    else if (step.kind === 'replace') await this.store.replace(step.slot);
    else await this.store.setReplacement(undefined);
    this.publishedAt = now;
    return true;
  }
}

describe('the work that replaces keys', () => {
  const peersOf = (name: string) =>
    slots.map((slot) => ({ slot, publicKey: testKeyPair(`${name} ${slot}`).publicKey }));

  async function running(wiresKeys: boolean, established: readonly string[]) {
    const clock = new ManualClock();
    const ownKeys = testKeys('a', { wallTime: () => clock.wallTime() });
    let wired: readonly OwnSlotKey[] = [];
    const events: Event[] = [];
    const work = keyReplacement({
      ownKeys,
      net: { wiredKeys: () => wired, peers: () => [peersOf('b')] },
      nodes: { isPublished: () => true },
      sessions: () =>
        established.map((publicKey) => ({
          iface: '',
          publicKey,
          isEstablished: true,
          since: new Date(0),
        })),
      lifetime: 60,
      loop: {
        push: (event: Event) => {
          events.push(event);
          if (wiresKeys) void ownKeys.ownKeys().then((own) => (wired = slotKeys(own)));
        },
      },
      log: silentLogger,
      clock,
      random: seededRandom(1),
    });
    await work.afterInit?.();
    return { clock, ownKeys, events, close: () => work.close?.() };
  }

  it('asks seldom for keys that cannot be wired', async () => {
    const { clock, events, close } = await running(false, []);
    await clock.advance(3_600_000);
    assert.ok(events.length > 1 && events.length < 10, `${events.length} events`);
    await close();
  });

  it('keeps the only session with a node for a second lifetime', async () => {
    const [first, second] = peersOf('b');
    const { clock, ownKeys, close } = await running(true, [second!.publicKey]);
    const keys = async () => (await ownKeys.ownKeys()).keys.map(({ publicKey }) => publicKey);
    await clock.advance(10_000);
    const before = await keys();
    await clock.advance(70 * 60_000);
    const after = await keys();
    assert.equal(first!.slot, 0);
    assert.notEqual(after[0], before[0]);
    assert.equal(after[1], before[1]);
    await clock.advance(60 * 60_000);
    assert.notEqual((await keys())[1], before[1]);
    await close();
  });
});

describe('the replacement of a key', () => {
  it('begins when the key is old, in the time of its slot', async () => {
    const own = await oldKeys();
    for (const slot of slots) {
      const now = DAY + slot * keyTiming.window + (slotOfWindow(DAY) === 0 ? 0 : keyTiming.window);
      assert.deepEqual(nextKeyStep(own, { ...situation, now }), { kind: 'begin', slot });
      const late = now + keyTiming.begin;
      assert.equal(nextKeyStep(own, { ...situation, now: late }), undefined);
      assert.equal(nextKeyStep(own, { ...situation, now, lifetime: 0 }), undefined);
      assert.equal(nextKeyStep(own, { ...situation, now: now - DAY / 2 }), undefined);
      const asked: OwnKeys = {
        keys: [
          { ...own.keys[0], isUnwanted: true },
          { ...own.keys[1], isUnwanted: true },
        ],
      };
      assert.deepEqual(nextKeyStep(asked, { ...situation, now, lifetime: 0 }), {
        kind: 'begin',
        slot,
      });
    }
  });

  it('waits for a second lifetime while a node has a session by the key alone', async () => {
    const own = await oldKeys();
    const step = (now: number) =>
      nextKeyStep(own, { ...situation, now, hasOnlySessions: (slot) => slot === 0 });
    const window = 2 * keyTiming.window;
    assert.equal(step(DAY), undefined);
    assert.deepEqual(step(DAY + keyTiming.window), { kind: 'begin', slot: 1 });
    assert.equal(step(1.79 * DAY - ((1.79 * DAY) % window)), undefined);
    assert.deepEqual(step(2 * DAY), { kind: 'begin', slot: 0 });
  });

  it('does not believe the time of a key that a wrong clock has made', async () => {
    let now = 30_000 * DAY;
    const store = testKeys('a', { wallTime: () => now });
    await store.ownKeys();
    now = 20_000 * DAY;
    assert.deepEqual(nextKeyStep(await store.ownKeys(), { ...situation, now }), {
      kind: 'begin',
      slot: 0,
    });
  });

  it('follows a command once, whatever the clock was', async () => {
    let now = 30_000 * DAY;
    const store = testKeys('a', { wallTime: () => now });
    const due = async () => {
      const step = nextKeyStep(await store.ownKeys(), { ...situation, lifetime: 0, now });
      return step?.kind === 'begin' ? step.slot : undefined;
    };
    now = 20_000 * DAY;
    assert.equal(await due(), undefined);
    now = 30_000 * DAY;
    await store.requestReplacement();
    now = 20_000 * DAY;
    assert.equal(await due(), 0);
    await store.replace(0);
    await store.setReplacement(undefined);
    assert.equal(await due(), undefined);
    now += keyTiming.window;
    assert.equal(await due(), 1);
  });

  it('waits until the others can read each step, and for sessions not for ever', async () => {
    const own = await oldKeys();
    const draining = { ...own, replacement: { slot: 0 as Slot, isNew: false } };
    const step = (keys: OwnKeys, changes: Partial<typeof situation>) =>
      nextKeyStep(keys, { ...situation, ...changes })?.kind;
    assert.equal(step(draining, { publishedFor: undefined }), undefined);
    assert.equal(step(draining, { publishedFor: keyTiming.drain - 1 }), undefined);
    assert.equal(step(draining, { publishedFor: keyTiming.drain }), 'replace');
    assert.equal(
      step(draining, { now: keyTiming.window }),
      undefined,
      'the time of the other slot',
    );
    const made = { ...own, replacement: { slot: 0 as Slot, isNew: true } };
    assert.equal(step(made, { publishedFor: 1 }), 'end');
    assert.equal(step(made, { publishedFor: undefined }), undefined);
    const missing = { hasSessions: () => false };
    assert.equal(step(made, { publishedFor: keyTiming.overlap - 1, ...missing }), undefined);
    assert.equal(step(made, { publishedFor: keyTiming.overlap, ...missing }), 'end');
  });

  it('ends with two new keys, and never leaves two nodes without a session that stays', async () => {
    const run = fc.record({
      crashes: fc.array(fc.tuple(fc.nat(700), fc.constantFrom(0, 1)), { maxLength: 8 }),
      skew: fc.integer({ min: -15_000, max: 15_000 }),
      asked: fc.tuple(fc.nat(200), fc.nat(200)),
    });
    await fc.assert(
      fc.asyncProperty(run, async ({ crashes, skew, asked }) => {
        let now = DAY / 4;
        const nodes = [new ReplacingNode('a', () => now), new ReplacingNode('b', () => now + skew)];
        const before = await Promise.all(nodes.map((node) => node.store.ownKeys()));
        for (let tick = 0; tick < 800; tick++, now += TICK) {
          for (const [at, which] of crashes) if (at === tick) nodes[which]!.crash(tick + 1);
          for (const [at, node] of nodes.entries()) {
            if (asked[at] === tick) await node.store.requestReplacement();
            await node.tick();
          }
          const states = await Promise.all(nodes.map((node) => node.store.ownKeys()));
          const isStable = (slot: Slot): boolean =>
            states.every(({ replacement }) => replacement?.slot !== slot);
          assert.ok(slots.some(isStable), `tick ${tick}`);
        }
        for (const [at, node] of nodes.entries()) {
          const { keys, replacement } = await node.store.ownKeys();
          assert.equal(replacement, undefined);
          for (const slot of slots)
            assert.notEqual(keys[slot].publicKey, before[at]!.keys[slot].publicKey);
        }
      }),
      { numRuns: 60 },
    );
  });
});
