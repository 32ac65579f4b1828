/** Thousands of objects without records, because the local store was lost, and a disk that is full. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { StoreUnavailableError } from '#datastore/api.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import { table } from '#test/descriptors/compliance/example-values.ts';
import { entries } from '#test/descriptors/compliance/shared-vpp-agent.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { ObjectRecords, type RecordStore } from '#vpp/object-records.ts';
import { simulatedVpp, type VppBackend } from './backends.ts';

const COUNT = 3000;
const LEFTOVER = 'leftover/vpp-vrf-table/records';

let backend: VppBackend;
before(async () => {
  backend = await simulatedVpp();
});
after(() => backend?.stop());

test('objects without a record are drift until the store can be written', async (context) => {
  const inner = new MemoryStore();
  let isFull = true;
  const batches: number[] = [];
  const store: RecordStore = {
    list: (prefix) => inner.list(prefix),
    async putAll(changes) {
      if (isFull) throw new StoreUnavailableError('no space left on device', { where: 'local' });
      batches.push(changes.size);
      await inner.putAll(changes);
    },
  };
  const values = new Map(entries(Array.from({ length: COUNT }, (_, index) => table(index + 1))));
  const startAgent = () => {
    const isAgentKey = () => false;
    const managedKeys = new ObjectRecords({ store, isAgentKey, log: silentLogger });
    const descriptors = backend.descriptorsWith({ managedKeys });
    const scheduler = createScheduler({ descriptors, clock: systemClock, log: silentLogger });
    context.after(() => scheduler.close());
    const commit = async (mode: 'full-resync' | 'downstream-resync') => {
      const desired = mode === 'full-resync' ? values : new Map<string, object>();
      const { seqNum, failures } = await scheduler.commit({
        description: mode,
        mode,
        values: desired,
        onFailure: 'best-effort',
      });
      assert.deepEqual(failures, []);
      return scheduler.record(seqNum)?.Executed?.map(({ Operation, Key }) => `${Operation} ${Key}`);
    };
    const differences = async () => (await scheduler.drift()).Differences;
    return { commit, differences };
  };

  const first = startAgent();
  assert.equal((await first.commit('full-resync'))?.length, COUNT);
  const second = startAgent();
  assert.deepEqual(await second.commit('full-resync'), [`DELETE ${LEFTOVER}`]);
  const shown = await second.differences();
  assert.deepEqual(
    shown.map(({ Difference, Key, Reason }) => [Difference, Key, Reason]),
    [
      [
        'leftover',
        LEFTOVER,
        `objects without a record in the local store: ${COUNT}, records without an object: 0`,
      ],
    ],
  );
  assert.deepEqual(batches, []);
  isFull = false;
  assert.deepEqual(await second.commit('downstream-resync'), [`DELETE ${LEFTOVER}`]);
  assert.deepEqual(batches, [COUNT]);
  assert.deepEqual(await second.differences(), []);
  assert.equal((await startAgent().commit('full-resync'))?.length, undefined);
});
