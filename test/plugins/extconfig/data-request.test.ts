import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { InvalidModelError } from '#models/model.ts';
import { modelOfType } from '#models/registry.ts';
import { DataRequest } from '#models/rpc/rpc.gen.ts';
import { readDataRequest } from '#plugins/extconfig/data-request.ts';
import { requestBytes } from './grpc-client.ts';

const folder = join(import.meta.dirname, 'golden');
/** Requests that the Go client of the original has encoded, by item type. */
const golden = new Map(
  readdirSync(folder)
    .filter((file) => file.endsWith('.hex'))
    .map((file) => {
      const text = readFileSync(join(folder, file), 'utf8').trim();
      return [file.slice(0, -'.hex'.length), Buffer.from(text, 'hex')] as const;
    }),
);

/** The same requests as the client writes them in JSON. */
const requests: Record<string, Record<string, unknown>> = JSON.parse(
  readFileSync(join(folder, 'requests.json'), 'utf8'),
);

const read = (bytes: Uint8Array, purpose: 'put' | 'delete' = 'put') =>
  readDataRequest(bytes, purpose, systemClock);

/** Field of a message: its number, its content with a length before it. */
const field = (number: number, ...content: number[]) =>
  Buffer.from([...varint(number * 8 + 2), ...varint(content.length), ...content]);

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)];
}

describe('a request of the client of the original', () => {
  it('exists for each item type', () => {
    const names = DataRequest.reflection().fieldsArray.map(({ name }) => name);
    assert.deepEqual([...golden.keys()].filter((name) => !name.includes('-')).sort(), names.sort());
  });

  for (const [name, bytes] of golden)
    it(`with ${name} is read whole, or refused`, async () => {
      const { items, refused } = await read(bytes);
      const type = DataRequest.reflection().fields[name.split('-')[0]!]?.resolvedType;
      const isTaken = type && modelOfType(type.fullName.slice(1)) && !name.includes('-');
      assert.deepEqual(
        refused.map(({ error }) => error.code),
        isTaken ? [] : [type ? 'CV_EXTCONFIG_UNKNOWN_FIELD' : 'CV_EXTCONFIG_UNSUPPORTED'],
      );
      if (!isTaken) return;
      // as the original itself writes it in JSON
      const sent: unknown = requests[name]![name];
      const model = modelOfType(type.fullName.slice(1))!;
      assert.deepEqual(
        items.map(({ value }) => value),
        [sent].flat().map((json) => model.parse(json)),
      );
      for (const { key, value } of items) assert.equal(model.key(value), key);
    });
});

describe('a request', () => {
  it('has one error for each item that cannot be read', async () => {
    const interfaces = field(20, ...field(1, 0x61), ...field(9000, 1));
    const nested = field(20, ...field(1, 0x62), ...field(103, ...field(99, 1)));
    const wrongType = field(20, ...field(1, 0x63), 0x22 - 2, 1);
    const bytes = Buffer.concat([
      interfaces,
      nested,
      wrongType,
      field(20, 0xff),
      field(20, ...field(1, 0x64)),
      field(77, 1),
      Buffer.from([...varint(50 * 8), 5]),
    ]);
    const { items, refused } = await read(bytes);
    assert.deepEqual(
      items.map(({ key }) => key),
      ['config/vpp/v2/interfaces/d'],
    );
    assert.deepEqual(
      refused.map(({ error }) => error.message),
      [
        'Interfaces[0]: this agent does not have field 9000 of ligato.vpp.interfaces.Interface',
        'Interfaces[1]: this agent does not have tap.field 99 of ligato.vpp.interfaces.Interface',
        'Interfaces[2]: this agent does not have field 4 of ligato.vpp.interfaces.Interface',
        'Interfaces[3]: not a message of this type',
        'field 77[0]: this agent has no items of this type',
        'StaticRoutes[0]: not a message of this type',
      ],
    );
    assert.deepEqual(
      refused.slice(0, 2).map(({ key }) => key),
      ['config/vpp/v2/interfaces/a', 'config/vpp/v2/interfaces/b'],
    );
  });

  it('has an error for each item without a name', async () => {
    const bytes = requestBytes({ Interfaces: [{ mtu: 1 }, { mtu: 2 }], ArpEntries: [{}] });
    for (const purpose of ['put', 'delete'] as const) {
      const { items, refused } = await read(bytes, purpose);
      assert.deepEqual(items, []);
      assert.deepEqual(
        refused.map(({ error }) => error.message),
        ['Interfaces[0]', 'Interfaces[1]', 'ArpEntries[0]'].map(
          (name) => `${name}: a field of its key is not set`,
        ),
      );
    }
  });

  it('may delete items with fields that this agent does not have', async () => {
    const { items, refused } = await read(
      field(20, ...field(1, 0x61), ...field(9000, 1)),
      'delete',
    );
    assert.deepEqual(refused, []);
    assert.deepEqual(
      items.map(({ key }) => key),
      ['config/vpp/v2/interfaces/a'],
    );
  });

  it('with two values for one key reports the one that is replaced', async () => {
    const StaticRoutes = [
      { dst_network: '10.0.0.0/8', weight: 1 },
      { dst_network: '10.0.0.0/8', weight: 1 },
      { dst_network: '10.0.0.0/8', weight: 2 },
    ];
    const { items, refused } = await read(requestBytes({ StaticRoutes }));
    assert.deepEqual(
      items.map(({ name }) => name),
      ['StaticRoutes[2]'],
    );
    assert.deepEqual(
      refused.map(({ name, error }) => `${name} ${error.code}`),
      ['StaticRoutes[1] CV_EXTCONFIG_REPEATED'],
    );
    assert.deepEqual((await read(requestBytes({ StaticRoutes }), 'delete')).refused, []);
  });

  it('may have a field that is not repeated in several parts', async () => {
    const first = requestBytes({ ProxyArp: { interfaces: [{ name: 'a' }] } });
    const second = requestBytes({ ProxyArp: { interfaces: [{ name: 'b' }] } });
    const { items } = await read(Buffer.concat([first, second]));
    assert.deepEqual(
      items.map(({ value }) => (value as { interfaces: { name: string }[] }).interfaces),
      [[{ name: 'a' }, { name: 'b' }]],
    );
  });

  it('that is no message is refused whole', async () => {
    for (const bytes of [
      [0x0a],
      [0x52, 5, 1],
      [0, 0],
      [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
    ])
      await assert.rejects(read(Buffer.from(bytes)), InvalidModelError, String(bytes));
    assert.deepEqual(await read(Buffer.alloc(0)), { items: [], refused: [] });
  });
});
