/** The JSON scanner of contiv-cni, compared with JSON.parse. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';
import fc from 'fast-check';
import { checkProperty } from '#test/support/random-cases.ts';
import { declareUnless, withoutCompiler } from '#test/support/requirements.ts';
import { checkingOptions, compile } from '../../../scripts/lib/contiv-cni.ts';
import { temporaryFolder } from './executable.ts';

const FILE = 'test/cmd/cni/json.test.ts';

const [INVALID, NOT_OBJECT, OBJECT] = [0, 1, 2];
const [ABSENT, STRING, OTHER] = [0, 1, 2];
const MAX_VALUE_BYTES = 4095;
const MAX_DEPTH = 512;

interface Scan {
  readonly document: number;
  readonly fields: readonly { readonly kind: number; readonly value: string }[];
}

/** The expected findings of the scanner. */
function expectedOf(document: Buffer): Scan {
  const absent = { kind: ABSENT, value: '' };
  let parsed: unknown;
  try {
    parsed = JSON.parse(document.toString());
  } catch {
    return { document: INVALID, fields: [absent, absent] };
  }
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  if (!isObject) return { document: NOT_OBJECT, fields: [absent, absent] };
  const fields = ['a', 'name'].map((name) => {
    const value = Object.hasOwn(parsed as object, name)
      ? (parsed as Record<string, unknown>)[name]
      : undefined;
    if (value === undefined || value === null) return absent;
    const bytes = Buffer.from(String(value));
    const fits = typeof value === 'string' && bytes.length <= MAX_VALUE_BYTES && !bytes.includes(0);
    return fits ? { kind: STRING, value: bytes.toString() } : { kind: OTHER, value: '' };
  });
  return { document: OBJECT, fields };
}

function parseLine(line: string): Scan {
  const [document, ...fields] = line.split(' ');
  return {
    document: Number(document),
    fields: fields.map((field) => {
      const [kind, digits = ''] = field.split(':');
      return { kind: Number(kind), value: Buffer.from(digits, 'hex').toString() };
    }),
  };
}

/** Documents with many different tokens, also invalid ones. */
const tokens = fc.constantFrom(
  ...['{', '}', '[', ']', ',', ':', ' ', '\n', '"a"', '"name"', '"x"', '"', '\\', '\\u', '\\"'],
  ...['"\\u0061"', '"\\ud83d\\ude00"', '"\\udc00"', '"\\ud800\\u0041"', '"\\u0000"', '\u0001'],
  ...['null', 'true', 'false', 'nul', '0', '-', '1', '01', '1.', '.5', '1e', '1E+5', 'é', '\ufeff'],
);
const values = fc.oneof(fc.string({ unit: 'binary' }), fc.json({ maxDepth: 3 }), fc.double());
const objects = fc
  .array(fc.tuple(fc.constantFrom('a', 'name', 'other', '__proto__'), values), { maxLength: 4 })
  .map((fields) => fields.map(([name, value]) => `"${name}" : ${JSON.stringify(value)}`))
  .map((fields) => `{${fields.join(',')}}`);
const changes = fc.array(fc.tuple(fc.nat(), fc.nat(3), tokens), { maxLength: 3 });
const texts = fc.oneof(
  fc.tuple(fc.oneof(objects, fc.json()), changes).map(([text, list]) =>
    list.reduce((changed, [at, removed, inserted]) => {
      const place = at % (changed.length + 1);
      return changed.slice(0, place) + inserted + changed.slice(place + removed);
    }, text),
  ),
  fc.array(tokens, { maxLength: 12 }).map((list) => list.join('')),
);
const documents = fc.oneof(
  texts.map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
);

await declareUnless(withoutCompiler(), 'the JSON scanner of contiv-cni', () => {
  const scanner = join(temporaryFolder(), 'scan');
  const sources = ['test/cmd/cni/scan.c', 'src/cmd/cni/json.c', 'src/cmd/cni/text.c'];
  compile(sources, scanner, checkingOptions);

  function assertScans(list: readonly Buffer[]): void {
    const input = Buffer.concat(
      list.flatMap((document) => {
        const head = Buffer.alloc(4);
        head.writeUInt32BE(document.length);
        return [head, document];
      }),
    );
    const { stdout, stderr, status } = spawnSync(scanner, { input, maxBuffer: 1 << 26 });
    assert.equal(status, 0, String(stderr));
    const lines = String(stdout).trim().split('\n');
    assert.equal(lines.length, list.length);
    for (const [index, document] of list.entries())
      assert.deepEqual(parseLine(lines[index]!), expectedOf(document), document.toString());
  }

  it('finds strings of all forms', () => {
    const long = (bytes: number) => `{"a":"${'x'.repeat(bytes)}","name":"n"}`;
    const all = [
      ...['{"a":"1","a":"2"}', '{"a":"1","a":null}', '{"a":"1","a":{}}', '{"\\u0061":"x"}'],
      ...['{"a":{"a":"inner"}}', '[{"a":"1"}]', '', ' ', '{', '{"a":"1"}x', '{"a":"\\q"}'],
      ...[long(MAX_VALUE_BYTES), long(MAX_VALUE_BYTES + 1), `{"${'a'.repeat(70)}":"x"}`],
    ];
    assertScans(all.map((text) => Buffer.from(text)));
  });

  it('limits only the depth', () => {
    const nested = (depth: number) => Buffer.from('['.repeat(depth) + ']'.repeat(depth));
    assertScans([nested(MAX_DEPTH)]);
    const head = Buffer.alloc(4);
    for (const depth of [MAX_DEPTH + 1, 5_000_000]) {
      const document = nested(depth);
      head.writeUInt32BE(document.length);
      const { stdout } = spawnSync(scanner, { input: Buffer.concat([head, document]) });
      assert.equal(parseLine(String(stdout)).document, INVALID);
    }
  });

  const title = 'agrees with JSON.parse';
  it(title, { timeout: 120_000 }, async () => {
    // Many documents for each process.
    const lists = fc.array(documents, { minLength: 200, maxLength: 200, size: 'max' });
    await checkProperty(
      { file: FILE, name: title },
      50,
      fc.asyncProperty(lists, async (list) => assertScans(list)),
    );
  });
});
