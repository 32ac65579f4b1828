import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { jsonItems } from '#netctl/json-items.ts';

const documents: readonly (readonly [
  text: string,
  items: readonly (readonly [string, unknown])[],
])[] = [
  ['[]', []],
  [
    '[{"a": "]}\\"{["}, {"b": {"c": [{"d": 1}]}}]',
    [
      ['', { a: ']}"{[' }],
      ['', { b: { c: [{ d: 1 }] } }],
    ],
  ],
  [
    '{"first": [{"x": 1}], "text": "[{", "empty": [], "se\\"cond": [{"y": "\\\\"}, {"é": "ü"}]}\n',
    [
      ['first', { x: 1 }],
      ['se"cond', { y: '\\' }],
      ['se"cond', { é: 'ü' }],
    ],
  ],
];

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function itemsOf(text: string, size: number) {
  const items: (readonly [string, unknown])[] = [];
  for await (const { field, value } of jsonItems(inPieces(text, size))) items.push([field, value]);
  return items;
}

describe('the items of a document', () => {
  it('are found wherever the document is divided', async () => {
    for (const [text, items] of documents)
      for (const size of [1, 2, 3, 7, 1_000])
        assert.deepEqual(await itemsOf(text, size), items, `${text} in pieces of ${size}`);
  });

  it('are an error if the document ends early or is empty', async () => {
    for (const text of ['', '[{"a": 1}', '{"first": [{"x": 1}]'])
      await assert.rejects(itemsOf(text, 1_000), SyntaxError, text);
  });

  it('are found in time that grows with the document only', async () => {
    const item = { name: 'shop/web', text: 'x'.repeat(500) };
    const text = JSON.stringify(Array.from({ length: 20_000 }, () => item));
    const started = performance.now();
    assert.equal((await itemsOf(text, 16_384)).length, 20_000);
    assert.ok(performance.now() - started < 10_000);
  });
});
