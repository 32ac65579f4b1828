import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toPrefix } from '#vpp/binapi/addresses.ts';
import { InvalidMessageError } from '#vpp/binapi/api.ts';
import { bundledCatalog } from '#vpp/binapi/catalog.ts';
import { Writer } from '#vpp/binapi/codec/writer.ts';
import { pack, someHeader, unpack } from './vectors.ts';

const catalog = bundledCatalog();

const path = {
  sw_if_index: 1,
  table_id: 0,
  rpf_id: 0,
  weight: 1,
  preference: 0,
  type: 0,
  flags: 0,
  proto: 0,
  nh: {
    address: Uint8Array.of(10, 0, 0, 1),
    via_label: 0x100000,
    obj_id: 0,
    classify_table_index: 0xffffffff,
  },
  n_labels: 0,
  label_stack: [],
};
const route = { table_id: 0, stats_index: 0, prefix: toPrefix('10.0.0.0/8'), paths: [path] };
const rule = {
  is_permit: 1,
  src_prefix: toPrefix('10.0.0.0/8'),
  dst_prefix: toPrefix('0.0.0.0/0'),
  proto: 6,
  srcport_or_icmptype_first: 0,
  srcport_or_icmptype_last: 65535,
  dstport_or_icmpcode_first: 80,
  dstport_or_icmpcode_last: 80,
  tcp_flags_mask: 0,
  tcp_flags_value: 0,
};

/** Message, invalid fields, and the expected error, which names message, path and reason. */
const refused: [string, unknown, string][] = [
  ['ip_route_add_del', { is_multipath: true }, 'ip_route_add_del.route: is missing (an object)'],
  ['ip_route_add_del', { route }, 'ip_route_add_del.is_multipath: is missing (a bool)'],
  [
    'ip_route_add_del',
    { is_multipath: 1, route },
    'ip_route_add_del.is_multipath: 1 is not a bool',
  ],
  [
    'ip_route_add_del',
    { is_multipath: true, route: { ...route, paths: [path, { ...path, weight: 256 }] } },
    'ip_route_add_del.route.paths[1].weight: 256 is not a u8',
  ],
  [
    'ip_route_add_del',
    {
      is_multipath: true,
      route: { ...route, paths: [{ ...path, nh: { ...path.nh, via_label: -1 } }] },
    },
    'ip_route_add_del.route.paths[0].nh.via_label: -1 is not a u32',
  ],
  [
    'ip_route_add_del',
    {
      is_multipath: true,
      route: { ...route, paths: [{ ...path, nh: { ...path.nh, address: new Uint8Array(5) } }] },
    },
    'ip_route_add_del.route.paths[0].nh.address: a byte array of 5 is not a byte array of 4 or 16',
  ],
  [
    'ip_route_add_del',
    { is_multipath: true, route: { ...route, n_paths: 2 } },
    'ip_route_add_del.route.n_paths: 2 is not the length of paths (1)',
  ],
  [
    'ip_route_add_del',
    { is_multipath: true, route: { ...route, paths: Array(256).fill(path) } },
    'ip_route_add_del.route.paths: has 256 elements, the maximum is 255',
  ],
  [
    'ip_route_add_del',
    { is_multipath: true, route: { ...route, paths: path } },
    'ip_route_add_del.route.paths: an object is not an array',
  ],
  [
    'ip_route_add_del',
    {
      is_multipath: true,
      route: { ...route, paths: [{ ...path, label_stack: [{}] }] },
    },
    'ip_route_add_del.route.paths[0].label_stack: an array of 1 is not an array of 16',
  ],
  [
    'ip_route_add_del',
    { is_multipath: true, route, color: 'red' },
    'ip_route_add_del.color: is not a field',
  ],
  [
    'ip_route_add_del',
    { is_multipath: true, route: { ...route, color: undefined } },
    'ip_route_add_del.route.color: is not a field',
  ],
  [
    'acl_add_replace',
    { acl_index: 0, tag: '', r: [rule, rule, { ...rule, dstport_or_icmpcode_first: 65536 }] },
    'acl_add_replace.r[2].dstport_or_icmpcode_first: 65536 is not a u16',
  ],
  [
    'acl_add_replace',
    { acl_index: 0, tag: 'x'.repeat(64), r: [] },
    'acl_add_replace.tag: is longer than 63 bytes',
  ],
  [
    'acl_add_replace',
    { acl_index: 0, tag: 'é'.repeat(32), r: [] },
    'acl_add_replace.tag: is longer than 63 bytes',
  ],
  ['acl_add_replace', { acl_index: 0, tag: 'a\0b', r: [] }, 'acl_add_replace.tag: contains a NUL'],
  [
    'acl_add_replace',
    { acl_index: 0, tag: '\ud800', r: [] },
    'acl_add_replace.tag: is not well-formed Unicode',
  ],
  [
    'acl_add_replace',
    { acl_index: Number.NaN, tag: '', r: [] },
    'acl_add_replace.acl_index: NaN is not a u32',
  ],
  [
    'acl_add_replace',
    { acl_index: 1.5, tag: '', r: [] },
    'acl_add_replace.acl_index: 1.5 is not a u32',
  ],
  [
    'acl_add_replace',
    { acl_index: '1', tag: '', r: [] },
    'acl_add_replace.acl_index: "1" is not a u32',
  ],
  [
    'acl_interface_set_acl_list',
    { sw_if_index: 1, n_input: 0, acls: [1, 2, -3] },
    'acl_interface_set_acl_list.acls[2]: -3 is not a u32',
  ],
  [
    'acl_interface_set_acl_list',
    { sw_if_index: 1, n_input: 0, acls: [1, undefined, 3] },
    'acl_interface_set_acl_list.acls[1]: is missing (a u32)',
  ],
  [
    'ip_neighbor_details',
    { age: Number.NaN, neighbor: {} },
    'ip_neighbor_details.age: NaN is not a number',
  ],
  [
    'ip_neighbor_details',
    { age: Number.POSITIVE_INFINITY, neighbor: {} },
    'ip_neighbor_details.age: Infinity is not a number',
  ],
  [
    'create_loopback',
    { mac_address: [2, 0, 0, 0, 0, 1] },
    'create_loopback.mac_address: an array of 6 is not a byte array of 6',
  ],
  [
    'nat44_user_session_v3_details',
    { ...catalog.codec('nat44_user_session_v3_details').zero(), total_bytes: 5 },
    'nat44_user_session_v3_details.total_bytes: 5 is not a u64 (bigint)',
  ],
  [
    'nat44_user_session_v3_details',
    { ...catalog.codec('nat44_user_session_v3_details').zero(), total_bytes: 2n ** 64n },
    'nat44_user_session_v3_details.total_bytes: 18446744073709551616n is not a u64 (bigint)',
  ],
  ['cli_inband', { cmd: 7 }, 'cli_inband.cmd: 7 is not a string'],
  ['cli_inband', null, 'cli_inband: is not an object'],
  ['cli_inband', undefined, 'cli_inband: is missing (an object)'],
  [
    'punt_socket_deregister',
    { punt: { type: 0, punt: { l4: {}, exception: {} } } },
    'punt_socket_deregister.punt.punt: an object is not an object with one of exception, l4, ip_proto',
  ],
  [
    'punt_socket_deregister',
    { punt: { type: 0, punt: { l4: { af: 0, protocol: 17, port: 70000 } } } },
    'punt_socket_deregister.punt.punt.l4.port: 70000 is not a u16',
  ],
];

for (const [name, fields, text] of refused)
  test(`rejected: ${text}`, () => {
    const writer = new Writer(4);
    // an earlier message in the writer, which must not change
    catalog.codec('cli_inband').encode(writer, { cmd: 'show' }, 7, 8, 9);
    const before = Buffer.from(writer.bytes.subarray(0, writer.length));
    assert.throws(
      () => catalog.codec(name).encode(writer, fields, 1, 2, 3),
      (error) => error instanceof InvalidMessageError && error.message === text,
    );
    assert.deepEqual(Buffer.from(writer.bytes.subarray(0, writer.length)), before);
  });

test('fields with a default may be omitted or undefined; the definition’s default is sent', () => {
  const codec = catalog.codec('ip_route_add_del');
  const implicit = pack(codec, { is_multipath: false, route }, someHeader);
  const explicit = pack(codec, { is_add: true, is_multipath: false, route }, someHeader);
  const undef = pack(codec, { is_add: undefined, is_multipath: false, route }, someHeader);
  assert.deepEqual(implicit, explicit);
  assert.deepEqual(undef, explicit);
  const dump = unpack(
    catalog.codec('bridge_domain_dump'),
    pack(catalog.codec('bridge_domain_dump'), {}, someHeader),
  );
  assert.deepEqual(dump, { bd_id: 0xffffffff, sw_if_index: 0xffffffff });
});

test('counts are set by the encoder; an empty fixed-length array is all zero', () => {
  const codec = catalog.codec('ip_route_add_del');
  const labels = Array.from({ length: 16 }, () => ({ is_uniform: 0, label: 0, ttl: 0, exp: 0 }));
  const full = { ...route, n_paths: 1, paths: [{ ...path, label_stack: labels }] };
  assert.deepEqual(
    pack(codec, { is_multipath: false, route }, someHeader),
    pack(codec, { is_multipath: false, route: full }, someHeader),
  );
});

test('a decoded message shares no memory with its input', () => {
  const codec = catalog.codec('sw_interface_set_mac_address');
  const bytes = pack(
    codec,
    { sw_if_index: 1, mac_address: Uint8Array.of(1, 2, 3, 4, 5, 6) },
    someHeader,
  );
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const fields = codec.decode({ bytes, view, position: 0, end: bytes.length });
  bytes.fill(0xff);
  assert.deepEqual(fields, { sw_if_index: 1, mac_address: Uint8Array.of(1, 2, 3, 4, 5, 6) });
});

test('a count that exceeds the message is rejected before memory is allocated for it', () => {
  const codec = catalog.codec('acl_details');
  const bytes = pack(codec, { acl_index: 0, tag: '', r: [] }, someHeader);
  bytes.writeUInt32BE(0xffffffff, 74);
  assert.throws(() => unpack(codec, bytes), /r: has count 4294967295, which exceeds/);
  const text = catalog.codec('cli_inband_reply');
  const reply = pack(text, { retval: 0, reply: 'abc' }, someHeader);
  reply.writeUInt32BE(4, 10);
  assert.throws(() => unpack(text, reply), /cli_inband_reply.reply: has count 4, which exceeds/);
});
