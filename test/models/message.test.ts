import assert from 'node:assert/strict';
import { test } from 'node:test';
import { macRule } from '#models/address-rules.ts';
import { messageCodec, messageType, type ProtoFile } from '#models/message.ts';
import { InvalidModelError } from '#models/model.ts';
import { unordered } from '#models/rules.ts';

interface All {
  readonly text: string;
  readonly raw: string;
  readonly flag: boolean;
  readonly small: number;
  readonly count: number | bigint;
  readonly ratio: number;
  readonly kind: 'NONE' | 'SOME';
  readonly maybe?: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly by_number: Readonly<Record<string, All>>;
  readonly list: readonly string[];
  readonly child?: All;
  readonly one_text?: string;
  readonly one_child?: All;
  readonly vmx_net3: string;
}

const file: ProtoFile = {
  name: 'test/all.proto',
  imports: [],
  nested: {
    test: {
      nested: {
        Kind: { values: { NONE: 0, SOME: 1 } },
        All: {
          oneofs: { _maybe: { oneof: ['maybe'] }, one: { oneof: ['one_text', 'one_child'] } },
          fields: {
            text: { type: 'string', id: 1 },
            raw: { type: 'bytes', id: 2 },
            flag: { type: 'bool', id: 3 },
            small: { type: 'int32', id: 4 },
            count: { type: 'uint64', id: 5 },
            ratio: { type: 'double', id: 6 },
            kind: { type: 'Kind', id: 7 },
            maybe: { type: 'uint32', id: 8, options: { proto3_optional: true } },
            labels: { keyType: 'string', type: 'string', id: 9 },
            by_number: { keyType: 'int32', type: 'All', id: 10 },
            list: { rule: 'repeated', type: 'string', id: 11 },
            child: { type: 'All', id: 12 },
            one_text: { type: 'string', id: 13 },
            one_child: { type: 'All', id: 14 },
            vmx_net3: { type: 'string', id: 15 },
          },
        },
      },
    },
  },
};

const all = messageCodec<All>(messageType(file, 'test.All'));

test('a list without one of its elements is invalid', () => {
  const list = ['a', 'b', 'c'];
  delete list[1];
  assert.throws(() => all.canonical({ list }), /list\[1\]/);
});

const empty = {
  text: '',
  raw: '',
  flag: false,
  small: 0,
  count: 0,
  ratio: 0,
  kind: 'NONE',
  labels: {},
  by_number: {},
  list: [],
  vmx_net3: '',
};

test('defaults are filled in when parsing and omitted in JSON', () => {
  assert.deepEqual(all.canonical({}), empty);
  assert.deepEqual(all.parse({ text: null, child: null, list: null }), empty);
  assert.deepEqual(all.toJson(all.canonical({})), {});
});

test('a sub-message that is set is kept, even if it is empty', () => {
  const value = all.canonical({ child: {} });
  assert.deepEqual(value.child, empty);
  assert.deepEqual(all.toJson(value), { child: {} });
});

test('presence of an optional scalar and of a member of a oneof is kept', () => {
  const value = all.canonical({ maybe: 0, one_text: '' });
  assert.equal(value.maybe, 0);
  assert.equal(value.one_text, '');
  assert.deepEqual(all.toJson(value), { maybe: 0, one_text: '' });
});

test('proto names and lowerCamel names are read, proto names are written', () => {
  const value = all.parse({ vmxNet3: 'x', byNumber: { 7: { small: 1 } } });
  assert.deepEqual(all.toJson(value), { vmx_net3: 'x', by_number: { 7: { small: 1 } } });
});

test('64-bit integers: number while safe, bigint beyond, text in JSON', () => {
  assert.equal(all.parse({ count: '9007199254740991' }).count, Number.MAX_SAFE_INTEGER);
  assert.equal(all.parse({ count: '18446744073709551615' }).count, 2n ** 64n - 1n);
  assert.equal(all.canonical({ count: 5n }).count, 5);
  assert.deepEqual(all.toJson(all.canonical({ count: 5 })), { count: '5' });
  assert.throws(() => all.parse({ count: 2 ** 53 }), InvalidModelError);
  assert.throws(() => all.parse({ count: '18446744073709551616' }), InvalidModelError);
});

test('bytes take both base64 alphabets and raw bytes, and are kept as one', () => {
  const spellings = ['+/8=', '-_8=', '-_8', Uint8Array.of(0xfb, 0xff)];
  for (const raw of spellings) assert.equal(all.parse({ raw }).raw, '+/8=');
});

test('a map may contain keys such as __proto__ and constructor', () => {
  const labels = JSON.parse('{"__proto__": "a", "constructor": "b"}') as Record<string, string>;
  const value = all.canonical({ labels });
  assert.deepEqual(Object.keys(value.labels), ['__proto__', 'constructor']);
  assert.equal(JSON.stringify(all.toJson(value)), '{"labels":{"__proto__":"a","constructor":"b"}}');
});

test('everything is frozen', () => {
  const value = all.canonical({ child: { list: ['a'] }, labels: { a: 'b' } });
  for (const part of [value, value.child, value.child?.list, value.labels, value.list]) {
    assert.ok(Object.isFrozen(part));
  }
});

test('unknown fields are ignored at every depth when the writer may be newer', () => {
  const { value, unknownFields } = all.parseKnown({
    nope: 1,
    text: 'a',
    child: { more: {}, list: ['b'] },
  });
  assert.deepEqual(value, all.canonical({ text: 'a', child: { list: ['b'] } }));
  assert.deepEqual(unknownFields, ['nope', 'more']);
  assert.throws(() => all.parseKnown({ nope: 1 }, 'k'), /k: nope: no such field, and no known/);
  assert.throws(() => all.parseKnown({ nope: 1, text: 5 }, 'k'), {
    name: 'InvalidModelError',
    message: /text: expected text, found 5/,
  });
});

test('invalid input is rejected with its path', () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [{ nope: 1 }, 'k: nope: no such field'],
    [{ toString: 1 }, 'k: toString: no such field'],
    [
      { one_text: 'a', oneChild: {} },
      'k: one_child: only one of one_text and one_child may be set',
    ],
    [{ vmx_net3: 'a', vmxNet3: 'b' }, 'k: vmx_net3: given twice'],
    [{ small: 2 ** 31 }, 'k: small: 2147483648 is not between -2147483648 and 2147483647'],
    [{ small: 1.5 }, 'k: small: expected a whole number, found 1.5'],
    [{ small: true }, 'k: small: expected a whole number, found true'],
    [{ flag: 'true' }, 'k: flag: expected true or false, found "true"'],
    [{ text: 5 }, 'k: text: expected text, found 5'],
    [{ text: '\ud800' }, 'k: text: text is not valid Unicode'],
    [{ raw: 'not base64!' }, 'k: raw: expected base64, found "not base64!"'],
    [{ kind: 'toString' }, 'k: kind: "toString" is not one of NONE, SOME'],
    [{ kind: 2 }, 'k: kind: 2 is not one of NONE, SOME'],
    [{ list: 'a' }, 'k: list: expected a list, found "a"'],
    [{ list: ['a', null] }, 'k: list[1]: expected text, found null'],
    [{ ratio: '' }, 'k: ratio: expected a number, found ""'],
    [{ child: [] }, 'k: child: expected an object, found []'],
    [
      { child: { by_number: { 5: { small: 'x' } } } },
      'k: child.by_number["5"].small: expected a whole number, found "x"',
    ],
    [{ by_number: { x: {} } }, 'k: by_number["x"]: expected a whole number, found "x"'],
    ['text', 'k: expected an object, found "text"'],
    [null, 'k: expected an object, found null'],
  ];
  for (const [input, message] of cases) {
    assert.throws(() => all.parse(input, 'k'), { name: 'InvalidModelError', message, where: 'k' });
  }
});

test('an unordered list has one canonical order', () => {
  const codec = messageCodec<All>(messageType(file, 'test.All'), {
    list: unordered((text: string) => text.length, macRule),
  });
  const [a, b] = ['02:fe:00:00:00:01', '02:fe:00:00:00:02'];
  assert.deepEqual(codec.canonical({ list: [b, a] }), codec.canonical({ list: [a, b] }));
});

test('the wire format carries the same data as JSON', () => {
  const value = all.canonical({
    text: 'ä',
    raw: 'AAE=',
    flag: true,
    small: -1,
    count: 2n ** 64n - 1n,
    ratio: 0.5,
    kind: 'SOME',
    maybe: 0,
    labels: { a: 'b' },
    by_number: { 5: { small: 3 } },
    list: ['x', ''],
    child: { one_child: {} },
  });
  assert.deepEqual(all.decodeWire(all.encodeWire(value)), value);
});

test('bytes that are not a message are rejected', () => {
  assert.throws(() => all.decodeWire(Uint8Array.of(0x0a, 0x7f, 0x01), 'a request'), {
    name: 'InvalidModelError',
    where: 'a request',
  });
});

test('an unknown enum number is also rejected in the wire format', () => {
  assert.throws(() => all.decodeWire(Uint8Array.of(0x38, 0x09)), InvalidModelError);
});
