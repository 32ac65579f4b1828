import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { timeArgument } from '#infra/http/time-argument.ts';

const read = (text: string) =>
  timeArgument({ query: { since: [text] }, params: {}, body: undefined }, 'since');

describe('a time in a query', () => {
  const micros = Date.parse('2026-01-31T12:00:00Z') * 1000;

  it('is the same in each unit of Unix time and as text', () => {
    const seconds = `${micros / 1e6}`;
    for (const zeros of ['', '000', '000000', '000000000'])
      assert.equal(read(seconds + zeros), micros, zeros);
    assert.equal(read('2026-01-31T12:00:00Z'), micros);
    assert.equal(read(`${seconds}000001999`), micros + 1);
  });

  it('has a unit for each number that it accepts', () => {
    assert.equal(read('0'), 0);
    assert.equal(read('-1'), -1e6);
    assert.equal(read(`${1e11 - 1}`), (1e11 - 1) * 1e6);
    assert.equal(read(`${1e11}`), 1e11 * 1e3);
    assert.equal(read('100000000000000'), 1e14);
    assert.equal(read('100000000000000000'), 1e14);
  });

  it('is refused in any other form', () => {
    for (const text of [
      '',
      'now',
      '1.5',
      '1e9',
      '-',
      '123456789012345678901',
      '2026-02-30T00:00:00Z',
    ])
      assert.throws(() => read(text), /since=".*" must be Unix time or RFC 3339/, text);
  });
});
