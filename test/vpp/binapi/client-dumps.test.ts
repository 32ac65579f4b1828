import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidMessageError } from '#vpp/binapi/api.ts';
import { bundledCatalog } from '#vpp/binapi/catalog.ts';
import type { BdIpMacDetails } from '#vpp/binapi/messages.gen.ts';
import { VppRefusedError } from '#vpp/binapi/retval-error.ts';
import { connected, type Received, settle } from './scripted-vpp.ts';

const flags = (sw_if_index: number) => ({ sw_if_index, flags: 1 });

test('dumps collect their details; concurrent dumps and requests do not mix', async () => {
  const { vpp, client } = await connected();
  const waiting: Received[] = [];
  for (const name of [
    'bd_ip_mac_dump',
    'l2_fib_table_dump',
    'sw_interface_set_flags',
    'control_ping',
  ])
    vpp.scripts.set(name, (message) => waiting.push(message));
  const dumps = [3, 4].map((bd_id) => client.dump('l2_fib_table_dump', { bd_id }));
  const request = client.request('sw_interface_set_flags', flags(1));
  const empty = client.dump('bd_ip_mac_dump', { bd_id: 9 });
  await settle();
  const details = (bd_id: number, sw_if_index: number, context: number) =>
    vpp.reply(
      'l2_fib_table_details',
      { ...bundledCatalog().codec('l2_fib_table_details').zero(), bd_id, sw_if_index },
      context,
    );
  const of = (name: string) => waiting.filter((message) => message.name === name);
  const [a, b] = of('l2_fib_table_dump');
  details(3, 1, a!.context);
  details(4, 1, b!.context);
  details(3, 2, a!.context);
  vpp.reply(
    'sw_interface_set_flags_reply',
    { retval: 0 },
    of('sw_interface_set_flags')[0]!.context,
  );
  details(4, 2, b!.context);
  details(4, 3, b!.context);
  for (const { context } of of('control_ping'))
    vpp.reply('control_ping_reply', { retval: 0, vpe_pid: 1 }, context);
  await request;
  const lists = await Promise.all(dumps);
  assert.deepEqual(
    lists.map((list) => list.map(({ bd_id, sw_if_index }) => `${bd_id}/${sw_if_index}`)),
    [
      ['3/1', '3/2'],
      ['4/1', '4/2', '4/3'],
    ],
  );
  assert.deepEqual(await empty, []);
});

test('details are taken one by one when they arrive', async () => {
  const { vpp, client } = await connected();
  const waiting: Received[] = [];
  for (const name of ['bd_ip_mac_dump', 'control_ping'])
    vpp.scripts.set(name, (message) => waiting.push(message));
  const taken: number[] = [];
  const dump = client.dumpEach('bd_ip_mac_dump', { bd_id: 9 }, ({ entry }) =>
    taken.push(entry.bd_id),
  );
  await settle();
  const [asked, ping] = waiting as [Received, Received];
  const details = bundledCatalog().codec('bd_ip_mac_details').zero() as BdIpMacDetails;
  for (const bd_id of [7, 8]) {
    const entry = { ...details.entry, bd_id };
    vpp.reply('bd_ip_mac_details', { entry }, asked.context);
    await settle();
    assert.equal(taken.at(-1), bd_id);
  }
  vpp.reply('control_ping_reply', { retval: 0, vpe_pid: 1 }, ping.context);
  assert.equal(await dump, undefined);
  assert.deepEqual(taken, [7, 8]);
});

for (const name of ['l2_fib_table_dump', 'nat44_ed_output_interface_get'] as const)
  test(`${name}: an error while details are taken rejects the dump alone`, async () => {
    const { vpp, client, lines } = await connected();
    const zero = (message: string) => bundledCatalog().codec(message).zero();
    vpp.scripts.set('l2_fib_table_dump', ({ context }) => {
      for (let i = 0; i < 3; i++)
        vpp.reply('l2_fib_table_details', zero('l2_fib_table_details'), context);
    });
    vpp.scripts.set('nat44_ed_output_interface_get', ({ context }) => {
      for (let i = 0; i < 3; i++)
        vpp.reply('nat44_ed_output_interface_details', { sw_if_index: i }, context);
      const end = { retval: 0, cursor: 3 };
      vpp.reply('nat44_ed_output_interface_get_reply', end, context);
    });
    const fields = name === 'l2_fib_table_dump' ? { bd_id: 3 } : {};
    let taken = 0;
    const failing = client.dumpEach(name, fields as never, () => {
      taken++;
      throw new RangeError('not taken');
    });
    const after = client.dump(name, fields as never);
    await assert.rejects(failing, new RangeError('not taken'));
    assert.equal((await after).length, 3);
    assert.equal(taken, 1, 'the rest of the dump is skipped');
    assert.equal(client.state, 'connected');
    assert.deepEqual(
      lines.filter(({ level }) => level === 'warn'),
      [],
    );
  });

test('invalid details reject the dump and name the message; the connection is kept', async () => {
  const { vpp, client } = await connected();
  vpp.scripts.set('l2_fib_table_dump', ({ context }) => {
    vpp.reply(
      'l2_fib_table_details',
      bundledCatalog().codec('l2_fib_table_details').zero(),
      context,
    );
    const short = vpp.frame(
      'l2_fib_table_details',
      bundledCatalog().codec('l2_fib_table_details').zero(),
      context,
    );
    short.writeUInt32BE(short.length - 17, 8);
    vpp.send(short.subarray(0, short.length - 1));
  });
  let taken = 0;
  await assert.rejects(
    client.dumpEach('l2_fib_table_dump', { bd_id: 3 }, () => taken++),
    (error) => error instanceof InvalidMessageError && /l2_fib_table_details/.test(error.message),
  );
  assert.equal(taken, 1);
  assert.equal(client.state, 'connected');
});

test('a cursor stream is requested page by page', async () => {
  const { vpp, client } = await connected();
  const cursors: unknown[] = [];
  vpp.scripts.set('nat44_ed_output_interface_get', ({ fields, context }) => {
    const cursor = fields['cursor'] as number;
    cursors.push(cursor);
    const start = cursor === 0xffffffff ? 0 : cursor;
    for (let i = start; i < Math.min(start + 3, 8); i++)
      vpp.reply('nat44_ed_output_interface_details', { sw_if_index: i }, context);
    const retval = start + 3 < 8 ? -165 : 0;
    vpp.reply('nat44_ed_output_interface_get_reply', { retval, cursor: start + 3 }, context);
  });
  const list = await client.dump('nat44_ed_output_interface_get', {});
  assert.deepEqual(
    list.map((details) => details.sw_if_index),
    [0, 1, 2, 3, 4, 5, 6, 7],
  );
  assert.deepEqual(cursors, [0xffffffff, 3, 6]);
});

test('a cursor stream that does not advance or is refused rejects', async () => {
  const { vpp, client } = await connected();
  const answers = [
    { retval: -165, cursor: 4 },
    { retval: -165, cursor: 4 },
    { retval: -126, cursor: 0 },
  ];
  vpp.answer(
    'nat44_ed_output_interface_get',
    'nat44_ed_output_interface_get_reply',
    () => answers.shift()!,
  );
  const refused = (retval: number) => (error: unknown) =>
    error instanceof VppRefusedError && error.retval === retval;
  await assert.rejects(client.dump('nat44_ed_output_interface_get', {}), refused(-165));
  await assert.rejects(client.dump('nat44_ed_output_interface_get', {}), refused(-126));
});
