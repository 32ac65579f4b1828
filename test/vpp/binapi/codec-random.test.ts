import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { withoutShared } from '#test/support/requirements.ts';
import { InvalidMessageError } from '#vpp/binapi/api.ts';
import { bundledCatalog, Catalog } from '#vpp/binapi/catalog.ts';
import type { MessageCodec } from '#vpp/binapi/codec/codec.ts';
import { isFixed } from '#vpp/binapi/codec/layout.ts';
import { readDefinitions } from '#vpp/binapi/definitions.ts';
import { anyStruct } from './arbitrary.ts';
import { decodedForm, pack, sharedFolder, someHeader, structOf, unpack } from './vectors.ts';

const bundled = [...bundledCatalog().codecs.values()];

/** Codecs of the available releases whose layouts are not bundled. */
async function releasedCodecs(): Promise<MessageCodec[]> {
  const codecs = new Map(bundled.map((codec) => [codec.tableName, codec]));
  for (const release of ['v24.10', 'v25.10', 'v26.06']) {
    const catalog = new Catalog(await readDefinitions(`${sharedFolder}/vpp-api/${release}`));
    for (const codec of catalog.codecs.values())
      if (!codecs.has(codec.tableName)) codecs.set(codec.tableName, codec);
  }
  return [...codecs.values()].slice(bundled.length);
}

function roundTrips(codec: MessageCodec, numRuns: number): void {
  const struct = structOf(codec);
  fc.assert(
    fc.property(anyStruct(struct), (fields) => {
      const bytes = pack(codec, fields, someHeader);
      assert.deepEqual(unpack(codec, bytes), decodedForm(struct, fields), codec.name);
    }),
    { numRuns },
  );
}

test('random used messages decode to what was encoded', () => {
  for (const codec of bundled) roundTrips(codec, 10);
});

test('random messages of three releases, too', { skip: withoutShared('vpp-api') }, async () => {
  const codecs = await releasedCodecs();
  assert.ok(codecs.length > 1000);
  for (const codec of codecs) roundTrips(codec, 4);
});

test('a truncated message is rejected', () => {
  for (const codec of bundled)
    fc.assert(
      fc.property(anyStruct(structOf(codec)), fc.nat(), (fields, cut) => {
        const bytes = pack(codec, fields, someHeader);
        const part = bytes.subarray(0, cut % bytes.length);
        assert.throws(() => unpack(codec, part), InvalidMessageError, codec.name);
      }),
      { numRuns: 10 },
    );
});

test('extra bytes are rejected after a fixed-size message, and ignored after a variable-length part', () => {
  for (const codec of bundled)
    fc.assert(
      fc.property(
        anyStruct(structOf(codec)),
        fc.uint8Array({ minLength: 1, maxLength: 9 }),
        (fields, more) => {
          const bytes = pack(codec, fields, someHeader);
          const long = Buffer.concat([bytes, more]);
          if (isFixed(codec.layout)) assert.throws(() => unpack(codec, long), InvalidMessageError);
          else assert.deepEqual(unpack(codec, long), unpack(codec, bytes), codec.name);
        },
      ),
      { numRuns: 5 },
    );
});

test('random bytes are decoded or rejected, and decoded fields can be encoded or are rejected', () => {
  for (const codec of bundled) {
    const size = pack(codec, codec.zero(), someHeader).length;
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: size + 40 }),
      fc.uint8Array({ minLength: size, maxLength: size }),
    );
    fc.assert(
      fc.property(bytes, (value) => {
        let fields: object;
        try {
          fields = unpack(codec, value);
        } catch (error) {
          assert.ok(error instanceof InvalidMessageError, String(error));
          return;
        }
        // texts and f64 that are decoded from random bytes may be invalid for encoding
        try {
          pack(codec, fields, someHeader);
        } catch (error) {
          assert.ok(error instanceof InvalidMessageError, String(error));
        }
      }),
      { numRuns: 10 },
    );
  }
});
