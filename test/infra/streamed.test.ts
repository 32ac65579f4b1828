import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ManualClock } from '#infra/clock/manual.ts';
import type { RouteResponse } from '#infra/http/route.ts';
import { streamedJson, streamedList } from '#infra/http/streamed.ts';

async function textOf({ body }: RouteResponse): Promise<string> {
  assert.ok(body instanceof Readable);
  let text = '';
  for await (const chunk of body) text += chunk;
  return text;
}

const inOneGo = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;

/** Lists that are long, deep in the document. */
const documents = fc.oneof(
  fc.jsonValue({ maxDepth: 6 }),
  fc.array(fc.record({ a: fc.array(fc.array(fc.nat(), { maxLength: 40 })), b: fc.jsonValue() })),
);

describe('streamed JSON', () => {
  const clock = new ManualClock();

  it('is the text of JSON.stringify', async () => {
    await fc.assert(
      fc.asyncProperty(documents, async (value) => {
        assert.equal(await textOf(streamedJson(value, clock)), inOneGo(value));
      }),
      { numRuns: 300 },
    );
  });

  it('is the same for a list that is created while it is sent', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.jsonValue()), async (items) => {
        assert.equal(await textOf(streamedList(items, clock)), inOneGo(items));
      }),
      { numRuns: 100 },
    );
  });

  it('omits undefined values and calls toJSON, as JSON.stringify does', async () => {
    const date = new Date(0);
    const value = { a: undefined, b: [undefined, date], c: { toJSON: () => ({ d: date }) }, e: {} };
    assert.equal(await textOf(streamedJson(value, clock)), inOneGo(value));
    assert.equal(await textOf(streamedJson([{}, []], clock)), inOneGo([{}, []]));
  });

  it('converts values without JSON form to text, and continues', async () => {
    const round: { self?: unknown } = {};
    round.self = round;
    const value = { number: 12n, round: [[[round]]], after: 1 };
    assert.deepEqual(JSON.parse(await textOf(streamedJson(value, clock))), {
      number: '12',
      round: [['[object Object]']],
      after: 1,
    });
  });

  it('is sent in chunks', async () => {
    const { body } = streamedJson(
      Array.from({ length: 50_000 }, (_, number) => ({ number })),
      clock,
    );
    let chunks = 0;
    for await (const chunk of body as Readable) {
      chunks++;
      assert.ok(chunk.length < 100_000);
    }
    assert.ok(chunks > 10, String(chunks));
  });

  it('ends without an error when the client closes early', async () => {
    const { body } = streamedList(
      (function* () {
        for (;;) yield 'more';
      })(),
      clock,
    );
    for await (const _ of body as Readable) break;
    assert.ok((body as Readable).destroyed);
  });
});
