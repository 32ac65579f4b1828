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
      await turns.next(address);
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
});
