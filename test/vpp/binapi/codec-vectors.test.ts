import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withoutShared } from '#test/support/requirements.ts';
import { bundledCatalog, Catalog } from '#vpp/binapi/catalog.ts';
import { readDefinitions } from '#vpp/binapi/definitions.ts';
import {
  decodedForm,
  givenFields,
  headerOf,
  isReadable,
  pack,
  readVectors,
  sharedFolder,
  structOf,
  unpack,
  type Vector,
} from './vectors.ts';

const golden = fileURLToPath(new URL('golden.json', import.meta.url));
const all = `${sharedFolder}/vectors/binapi-codec-v26.06.json`;
const api = `${sharedFolder}/vpp-api/v26.06`;

/** @returns the number of vectors that were also compared after decoding */
function compare(catalog: Catalog, vectors: readonly Vector[]): number {
  let read = 0;
  for (const vector of vectors) {
    const codec = catalog.codec(vector.message);
    assert.equal(`0x${codec.crc}`, vector.crc, vector.message);
    const fields = givenFields(codec, vector);
    assert.equal(pack(codec, fields, headerOf(vector)).toString('hex'), vector.hex, vector.message);
    const struct = structOf(codec);
    if (!isReadable(struct, fields)) continue;
    const decoded = unpack(codec, Buffer.from(vector.hex, 'hex'));
    assert.deepEqual(decoded, decodedForm(struct, fields), vector.message);
    read++;
  }
  return read;
}

test('golden messages of VPP’s Python client are encoded and decoded', () => {
  const vectors = readVectors(golden);
  assert.ok(vectors.length >= 36);
  assert.equal(compare(bundledCatalog(), vectors), vectors.length);
});

test('all messages of VPP’s Python client, both ways', {
  skip: withoutShared('vectors'),
}, async () => {
  const vectors = readVectors(all);
  const read = compare(new Catalog(await readDefinitions(api)), vectors);
  // the others contain a union member that the discriminator does not select
  assert.ok(read >= vectors.length * 0.99, `${read} of ${vectors.length} could be read`);
});
