/** When the kernel's table of services is activated. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SocketActivation } from '#cmd/agent/socket-activation.ts';
import { silentLogger } from '#infra/log/log.ts';
import { EventMethod } from '#plugins/controller/api/event.ts';

class Table {
  activations = 0;
  refusal: string | undefined;

  async activate(): Promise<void> {
    if (this.refusal !== undefined) throw new Error(this.refusal);
    this.activations++;
  }
}

const update = { method: EventMethod.Update, transaction: 1 };
const resync = { method: EventMethod.FullResync, transaction: 2 };
const abortedResync = { method: EventMethod.FullResync, transaction: undefined };

describe('activation of services at sockets', () => {
  it('follows the first resync that has written the table, once', async () => {
    const table = new Table();
    const activation = new SocketActivation({ table, log: silentLogger });
    for (const [record, expected] of [
      [update, 0],
      [abortedResync, 0],
      [resync, 1],
      [update, 1],
      [resync, 1],
    ] as const) {
      await activation.observe(record);
      assert.equal(table.activations, expected);
    }
  });

  it('is repeated with the next event if it fails, and says why', async () => {
    const table = new Table();
    table.refusal = 'no memory';
    const errors: unknown[] = [];
    const log = { ...silentLogger, error: (fields: unknown) => void errors.push(fields) };
    const activation = new SocketActivation({ table, log });
    assert.equal(activation.fault, undefined);
    await activation.observe(resync);
    await activation.observe(update);
    assert.match(activation.fault!, /no memory/);
    assert.equal(errors.length, 1);
    table.refusal = undefined;
    await activation.observe(update);
    assert.equal(activation.fault, undefined);
    assert.equal(table.activations, 1);
  });
});
