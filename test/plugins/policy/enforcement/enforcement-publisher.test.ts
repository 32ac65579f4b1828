/** When the agent writes what it does not enforce. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import {
  MAX_LISTED_REFUSALS,
  MAX_REASON_LENGTH,
  policyEnforcementKey,
  policyEnforcementModel,
} from '#kubernetes/models/policy-enforcement.ts';
import { enforcementPublisher } from '#plugins/policy/enforcement/enforcement-publisher.ts';
import type { NodeEnforcement } from '#plugins/policy/enforcement/node-enforcement.ts';
import { MemoryStore } from '#test/support/memory-store.ts';

const KEY = policyEnforcementKey.build({ name: 'n1' });

function started(seed = 7) {
  const clock = new ManualClock();
  const store = new MemoryStore();
  const writes: number[] = [];
  const bench = {
    clock,
    writes,
    found: undefined as NodeEnforcement | undefined,
    failing: false,
    read: async () => policyEnforcementModel.parse(JSON.parse((await store.get(KEY))!), KEY),
  };
  const publisher = enforcementPublisher({
    nodeName: 'n1',
    cluster: {
      put: async (key, value) => {
        writes.push(clock.monotonic());
        if (bench.failing) throw new Error('etcd does not answer');
        await store.put(key, value);
      },
    },
    read: () => bench.found,
    clock,
    random: seededRandom(seed),
    log: silentLogger,
  });
  void publisher.afterInit?.();
  return Object.assign(bench, { [Symbol.asyncDispose]: async () => await publisher.close?.() });
}

const settled = (applied: string, policies = 1): NodeEnforcement => ({
  policies,
  applied,
  problem: '',
  notEnforced: [],
});

describe('the record of a node', () => {
  it('is not written before the state is known, then within ten seconds, then once a minute', async () => {
    await using bench = started();
    const { clock, writes } = bench;
    await clock.advance(30_000);
    bench.found = settled('', 0);
    await clock.advance(200_000);
    assert.deepEqual(writes, [], 'there are no policies');
    bench.found = settled('1');
    await clock.advance(12_000);
    assert.equal(writes.length, 1);
    await clock.advance(600_000);
    assert.ok(writes.length >= 9 && writes.length <= 14, `${writes.length}`);
    for (const [at, time] of writes.slice(1).entries()) {
      const pause = time - writes[at]!;
      assert.ok(pause >= 45_000 && pause <= 77_000, `${pause}`);
    }
    assert.equal((await bench.read()).applied, '1');
  });

  it('is written at most once in ten seconds, with the last state', async () => {
    await using bench = started();
    const { clock, writes } = bench;
    for (let at = 0; at < 100; at++) {
      bench.found = settled(`${at}`);
      await clock.advance(1_000);
    }
    assert.ok(writes.length >= 5 && writes.length <= 11, `${writes.length}`);
    await clock.advance(20_000);
    assert.equal((await bench.read()).applied, '99');
  });

  it('says once that there are no policies any more, and those of all nodes come at random times when there are some again', async () => {
    const times: number[] = [];
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
      await using bench = started(seed);
      const { clock, writes } = bench;
      bench.found = settled('1');
      await clock.advance(12_000);
      bench.found = settled('none', 0);
      await clock.advance(20_000);
      assert.equal((await bench.read()).applied, 'none');
      await clock.advance(600_000);
      const before = writes.length;
      bench.found = settled('1');
      const start = clock.monotonic();
      await clock.advance(12_000);
      assert.equal(writes.length, before + 1);
      times.push(writes.at(-1)! - start);
    }
    assert.ok(Math.max(...times) - Math.min(...times) > 3_000, times.join());
  });

  it('is written again after a failure', async () => {
    await using bench = started();
    const { clock, writes } = bench;
    bench.failing = true;
    bench.found = settled('1');
    await clock.advance(120_000);
    assert.ok(writes.length > 3);
    bench.failing = false;
    await clock.advance(61_000);
    assert.equal((await bench.read()).applied, '1');
  });

  it('has a bounded number of policies with short reasons, and says how many it leaves out', async () => {
    await using bench = started();
    const notEnforced = Array.from({ length: 80 }, (_, at) => ({
      policy: `p${at}`,
      code: 'NotCarried' as const,
      reason: 'x'.repeat(10_000),
    }));
    bench.found = { ...settled(''), notEnforced };
    await bench.clock.advance(12_000);
    const { not_enforced, unlisted } = await bench.read();
    assert.deepEqual([not_enforced.length, unlisted], [MAX_LISTED_REFUSALS, 30]);
    assert.ok(not_enforced.every(({ reason }) => reason.length === MAX_REASON_LENGTH));
  });
});
