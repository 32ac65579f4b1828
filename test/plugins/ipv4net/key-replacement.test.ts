/** Keys of the nodes of a cluster are replaced at any time, with crashes: no two nodes are ever without a session. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type OwnKeys, type Slot, slots } from '#plugins/controller/api/ports/wireguard-keys.ts';
import { keyTiming, nextKeyStep, slotOfWindow } from '#plugins/ipv4net/key-steps.ts';
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
};

async function oldKeys(): Promise<OwnKeys> {
  const { keys } = await testKeys('a').ownKeys();
  return { keys, replaceBefore: 0 };
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
    const step = nextKeyStep(own, { now, lifetime: DAY, publishedFor, hasSessions: () => true });
    if (step === undefined) return false;
    if (step.kind === 'begin') await this.store.setReplacement({ slot: step.slot, isNew: false });
    else if (step.kind === 'replace') await this.store.replace(step.slot);
    else await this.store.setReplacement(undefined);
    this.publishedAt = now;
    return true;
  }
}

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
      const asked = { ...own, replaceBefore: 1 };
      assert.deepEqual(nextKeyStep(asked, { ...situation, now, lifetime: 0 }), {
        kind: 'begin',
        slot,
      });
    }
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
