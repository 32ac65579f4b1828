import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { Turns } from '#infra/http/turns.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('turns of requests', () => {
  it('begin four in a turn of the event loop, and each address before the next of another', async () => {
    const turns = new Turns(new ManualClock());
    let begun = '';
    const begin = async (address: string) => {
      await turns.next(address, { destroyed: false });
      begun += address;
    };
    for (let n = 0; n < 6; n++) void begin('a');
    void begin('b');
    const lengths = [];
    for (let n = 0; n < 4; n++) {
      await turn();
      lengths.push(begun.length);
    }
    assert.equal(begun, 'abaaaaa');
    assert.deepEqual(lengths, [4, 7, 7, 7]);
    await begin('c');
    assert.equal(begun.at(-1), 'c');
  });

  it('are not taken by closed connections', async () => {
    const turns = new Turns(new ManualClock());
    for (let n = 0; n < 1_000; n++) void turns.next('a', { destroyed: true });
    let isBegun = false;
    void turns.next('a', { destroyed: false }).then(() => {
      isBegun = true;
    });
    await turn();
    await turn();
    assert.ok(isBegun);
  });
});
