/** Connection, scheduler and the watch over interfaces, as they are in an agent. */
import assert from 'node:assert/strict';
import type { Clock } from '#infra/clock/clock.ts';
import { seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Connect } from '#vpp/binapi/api.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';
import { InterfaceWatch } from '#vpp/interface-watch.ts';
import { hostLinksStub } from './host-link-stub.ts';

export type WatchingAgent = Awaited<ReturnType<typeof startWatchingAgent>>;

export interface WatchedVpp {
  readonly clock: Clock;
  readonly connect: Connect;
  /** Links of the kernel that VPP can bind to. */
  readonly links: readonly string[];
  /** Lets that much time go by. */
  pass(ms: number): Promise<void>;
}

const LONGEST_MS = 30_000;

export async function startWatchingAgent({ clock, connect, links, pass }: WatchedVpp) {
  const client = new BinapiClient({
    connect,
    clock,
    random: seededRandom(1),
    log: silentLogger,
  });
  const needs = { client, clock, log: silentLogger };
  const scheduler = createScheduler({
    descriptors: [...vppDescriptors(needs), hostLinksStub(links)],
    clock,
    log: silentLogger,
  });
  const watch = new InterfaceWatch({ ...needs, scheduler });
  client.start();
  await client.whenConnected();
  watch.start();
  return {
    client,
    scheduler,
    state(key: string) {
      const { value, derived_values = [] } = scheduler.status(key);
      return [value, ...derived_values].find((each) => each.key === key)?.state;
    },
    /** @returns operations that were carried out */
    async commit(
      mode: 'full-resync' | 'update',
      values: readonly KeyedValue[],
    ): Promise<readonly string[]> {
      const { seqNum, failures } = await scheduler.commit({
        description: mode,
        mode,
        values: new Map(values.map(({ key, value }) => [key, value])),
        onFailure: 'best-effort',
      });
      assert.deepEqual(
        failures.map(({ key, error }) => `${key}: ${error.message}`),
        [],
      );
      const executed = scheduler.record(seqNum)?.Executed ?? [];
      return executed.filter((each) => !each.NOOP).map((each) => `${each.Operation} ${each.Key}`);
    },
    async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
      for (let waited = 0; waited < LONGEST_MS; waited += 100) {
        if (await isSo()) return;
        await pass(100);
      }
      assert.fail(`in vain: ${what}`);
    },
    async stop() {
      watch.close();
      await scheduler.close();
      await client.close();
    },
  };
}
