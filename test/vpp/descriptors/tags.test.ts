/** Names that are longer than what VPP keeps of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { tagOf, tagToName } from '#vpp/descriptors/tags.ts';

const name = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 90 }),
  fc.string({ minLength: 55, maxLength: 127 }),
);

test('a tag fits, is the name itself where that fits, and leads back to it', () => {
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 8 }), (names) => {
      const behind = tagToName(names);
      for (const each of names) {
        const tag = tagOf(each);
        assert.ok(Buffer.byteLength(tag) <= 63, tag);
        if (Buffer.byteLength(each) <= 63) assert.equal(tag, each);
        assert.equal(Buffer.from(tag).toString(), tag, 'whole characters');
        assert.equal(behind(tag), each);
      }
    }),
  );
});

test('names with one beginning have tags of their own, the same at any time', () => {
  const long = 'a'.repeat(70);
  assert.equal(tagOf(`${long}1`), `${'a'.repeat(46)}~51c804f104fdc38d`);
  assert.notEqual(tagOf(`${long}1`), tagOf(`${long}2`));
});

test('the tag of an unknown name is returned itself', () => {
  assert.equal(tagToName([])(tagOf('b'.repeat(64))), tagOf('b'.repeat(64)));
});
