/** Reports of resyncs to the kernel's table of services. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ResyncedTable } from '#cmd/agent/resynced-table.ts';
import { silentLogger } from '#infra/log/log.ts';
import { EventMethod } from '#plugins/controller/api/event.ts';

class Table {
  resyncs = 0;
  refusal: string | undefined;

  async resynced(): Promise<void> {
    if (this.refusal !== undefined) throw new Error(this.refusal);
    this.resyncs++;
  }
}

const update = { method: EventMethod.Update, transaction: 1 };
const resync = { method: EventMethod.FullResync, transaction: 2 };
const abortedResync = { method: EventMethod.FullResync, transaction: undefined };

describe('the table of services at sockets', () => {
  it('receives each resync that was executed, once', async () => {
    const table = new Table();
    const resynced = new ResyncedTable({ table, log: silentLogger });
    for (const [record, expected] of [
      [update, 0],
      [abortedResync, 0],
      [resync, 1],
      [update, 1],
      [resync, 2],
    ] as const) {
      await resynced.observe(record);
      assert.equal(table.resyncs, expected);
    }
  });

  it('receives it again with the next event if that fails, which says why', async () => {
    const table = new Table();
    table.refusal = 'no memory';
    const errors: unknown[] = [];
    const log = { ...silentLogger, error: (fields: unknown) => void errors.push(fields) };
    const resynced = new ResyncedTable({ table, log });
    assert.equal(resynced.fault, undefined);
    await resynced.observe(resync);
    await resynced.observe(update);
    assert.match(resynced.fault!, /no memory/);
    assert.equal(errors.length, 1);
    table.refusal = undefined;
    await resynced.observe(update);
    assert.equal(resynced.fault, undefined);
    assert.equal(table.resyncs, 1);
  });
});
