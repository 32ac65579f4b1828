/**
 * VPP is killed at random messages of a transaction of 5,000 values. The client reconnects to the
 * restarted VPP, and one downstream resync restores every value once. VPP_SEED repeats a run.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { FaultyClient } from '#test/descriptors/compliance/faulty-client.ts';
import { normalizedVppState } from '#test/descriptors/compliance/normalized-vpp-state.ts';
import { manyValues } from '#test/descriptors/many-values.ts';
import { withoutVpp } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { unixConnect } from '#vpp/binapi/transport/unix.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';
import { VppProcess } from '../support/vpp-process.ts';

const COUNT = 5000;
const kills = Number(process.env['VPP_KILLS_OF_VPP'] ?? 6);
const seed = Number(process.env['VPP_SEED'] ?? randomInt(2 ** 31));

describe('kills of VPP', { skip: withoutVpp(), timeout: 240_000 }, () => {
  const desired = manyValues(COUNT);
  let vpp: VppProcess;
  let client: BinapiClient;
  let changes: FaultyClient;
  let scheduler: Scheduler;
  /** State of a VPP that was never killed. */
  let whole: unknown;
  /** Number of changes for that. */
  let messages: number;
  /** The resync after the last reconnect. */
  let healing: Promise<void> | undefined;

  const commit = async (mode: 'full-resync' | 'update', values: ReadonlyMap<string, object>) => {
    const { failures } = await scheduler.commit({
      description: mode,
      mode,
      values,
      onFailure: 'best-effort',
    });
    return failures;
  };
  const heal = async (): Promise<void> => {
    const { failures } = await scheduler.resyncDownstream({ verbose: false });
    const worst = failures.map(({ key, error }) => `${key}: ${error.message}`);
    assert.deepEqual(worst.slice(0, 3), []);
  };

  before(async () => {
    vpp = new VppProcess();
    await vpp.start();
    client = new BinapiClient({
      connect: unixConnect(vpp.apiSocket, systemClock),
      clock: systemClock,
      random: systemRandom,
      log: silentLogger,
    });
    changes = new FaultyClient(client);
    scheduler = createScheduler({
      descriptors: vppDescriptors({
        client: changes.client,
        clock: systemClock,
        log: silentLogger,
      }),
      clock: systemClock,
      log: silentLogger,
    });
    // As the agent does after a reconnect.
    client.onStateChange((state) => {
      if (state === 'connected' && client.generation > 1) healing = heal();
    });
    client.start();
    await client.whenConnected();
    changes.cut(0);
    assert.deepEqual(await commit('full-resync', desired), []);
    messages = changes.changes;
    whole = await normalizedVppState(client);
  });
  after(async () => {
    await scheduler?.close();
    await client?.close();
    await vpp?.remove();
  });

  it(`in the middle of ${COUNT} values leave no value missing or duplicate`, async (t) => {
    const random = seededRandom(seed);
    t.diagnostic(`VPP_SEED=${seed}; ${messages} messages make ${COUNT} values`);
    for (let kill = 0; kill < kills; kill++) {
      await commit('full-resync', new Map());
      const at = 1 + Math.floor(random.next() * (messages - 1));
      changes.cut(0);
      changes.onChange = (n) => void (n === at && vpp.kill());
      const inVain = await commit('full-resync', desired);
      changes.onChange = undefined;
      assert.ok(inVain.length > 0, `killed at message ${at}, and nothing failed`);

      await vpp.kill();
      healing = undefined;
      await vpp.start();
      const socketUp = performance.now();
      await until('VPP is connected', () => healing !== undefined);
      await healing;
      const ms = Math.round(performance.now() - socketUp);
      t.diagnostic(`killed at message ${at}: converged ${ms} ms after the socket was up`);

      const open = [...desired.keys()].filter(
        (key) => scheduler.status(key).value.state !== 'CONFIGURED',
      );
      assert.deepEqual(open.slice(0, 5), []);
      assert.deepEqual(await normalizedVppState(client), whole);
      changes.cut(0);
      await heal();
      assert.equal(changes.changes, 0, 'a second resync sends nothing');
    }
  });
});
