import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ListParser } from '#ksr/api-server/list-parser.ts';

function parse(text: string, sizes: readonly number[]) {
  const bytes = Buffer.from(text);
  const parser = new ListParser('/api/v1/pods');
  const items: unknown[] = [];
  for (let i = 0, n = 0; i < bytes.length; n++) {
    const size = sizes[n % sizes.length] ?? 1;
    items.push(...parser.accept(bytes.subarray(i, i + size)));
    i += size;
  }
  return { items, ...parser.end() };
}

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
const texts = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('"items":[', '{', '}', '[', ']', '\\', '"', '\\"', ','),
);
// JSON.parse of Node.js 24 reads the key "\\"" as "\\" after an object that has the latter.
const keys = texts.filter((key) => !key.includes('\\') && !key.includes('"'));
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    texts,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(keys, fc.constant('items')), tie('json'), { maxKeys: 4 }),
  ),
}));
const items = fc.array(fc.dictionary(keys, json, { maxKeys: 5 }), { maxLength: 6 });
const others = fc.dictionary(keys, json, { maxKeys: 3 });

test('a list in pieces of any size is parsed like the whole', () => {
  fc.assert(
    fc.property(
      items,
      others,
      others,
      sizes,
      fc.constantFrom(undefined, 1),
      (objects, before, after, pieces, indent) => {
        const metadata = { resourceVersion: '42', continue: 'next', other: before };
        const list = { a: before, ...before, metadata, items: objects, ...after, metadata2: after };
        const text = JSON.stringify({ ...list, metadata, items: objects }, undefined, indent);
        const parsed = parse(text, pieces);
        assert.deepEqual(JSON.stringify(parsed.items), JSON.stringify(objects));
        assert.equal(parsed.resourceVersion, '42');
        assert.equal(parsed.continue, 'next');
      },
    ),
    { numRuns: 300, seed: 1 },
  );
});

test('a list that is cut anywhere is an error', () => {
  const list = { metadata: { resourceVersion: '7' }, items: [{ a: [1, '}'] }, { b: {} }] };
  const text = JSON.stringify(list);
  for (let length = 0; length < text.length; length++)
    assert.throws(() => parse(text.slice(0, length), [5]), { code: 'CV_KSR_API_RESPONSE' });
  assert.equal(parse(text, [5]).items.length, 2);
});

test('any bytes are a list or a coded error', () => {
  const bytes = fc.array(
    fc.constantFrom(...'{}[]",:\\ 1'.split(''), '"items":[', '{"items":[', 'null', '{}'),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(bytes, sizes, (characters, pieces) => {
      try {
        parse(characters.join(''), pieces);
      } catch (thrown) {
        assert.equal((thrown as { code?: string }).code, 'CV_KSR_API_RESPONSE');
      }
    }),
    { numRuns: 1000, seed: 1 },
  );
});

test('a list of null is empty', () => {
  const parsed = parse('{"items":null,"metadata":{"resourceVersion":"7"}}', [100]);
  assert.deepEqual(parsed, { items: [], resourceVersion: '7', continue: '' });
});

test('an object without an end is refused before it fills the memory', () => {
  const parser = new ListParser('/api/v1/pods');
  const begin = Buffer.from('{"metadata":{"resourceVersion":"7"},"items":[{"a":"');
  const piece = Buffer.alloc(1 << 20, 'x');
  parser.accept(begin);
  assert.throws(
    () => {
      for (let i = 0; i < 64; i++) parser.accept(piece);
    },
    { code: 'CV_KSR_API_RESPONSE' },
  );
  const envelope = new ListParser('/api/v1/pods');
  assert.throws(
    () => {
      for (let i = 0; i < 64; i++) envelope.accept(piece);
    },
    { code: 'CV_KSR_API_RESPONSE' },
  );
});
