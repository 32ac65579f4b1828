import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import {
  InvalidMessageError,
  UnsupportedMessageError,
  VppDisconnectedError,
} from '#vpp/binapi/api.ts';
import { bundledCatalog } from '#vpp/binapi/catalog.ts';
import { VppRefusedError } from '#vpp/binapi/retval-error.ts';
import { connected, type Received, settle, unconnected } from './scripted-vpp.ts';

const flags = (sw_if_index: number) => ({ sw_if_index, flags: 1 });

test('sends its name in the handshake and finds messages by name and CRC', async () => {
  const { vpp, client } = await connected({ name: 'node-1' });
  assert.equal(vpp.clientName, 'node-1');
  assert.equal(client.state, 'connected');
  assert.equal(client.generation, 1);
  assert.ok(client.has('ip_route_add_del'));
  assert.ok(!client.has('sockclnt_create'.concat('_reply')));
  vpp.answer('create_loopback', 'create_loopback_reply', ({ fields }) => ({
    retval: 0,
    sw_if_index: (fields['mac_address'] as Uint8Array)[5],
  }));
  const mac_address = Uint8Array.of(2, 0, 0, 0, 0, 12);
  const reply = await client.request('create_loopback', { mac_address });
  assert.deepEqual(reply, { retval: 0, sw_if_index: 12 });
});

test('messages that this VPP lacks are logged once by name and rejected', async () => {
  const { vpp, client, lines, clock } = unconnected();
  const missing = ['tap_create_v3', 'acl_details', 'sw_interface_event'].map(
    (name) => bundledCatalog().codec(name).tableName,
  );
  for (const name of missing) vpp.absent.add(name);
  client.start();
  await client.whenConnected();
  // a request is supported only together with all its answers
  assert.ok(!client.has('tap_create_v3'));
  assert.ok(!client.has('acl_dump'));
  assert.ok(client.has('acl_del'));
  await assert.rejects(client.dump('acl_dump', { acl_index: 0 }), UnsupportedMessageError);
  await assert.rejects(client.request('tap_create_v3', {} as never), /tap_create_v3/);
  assert.equal(vpp.received.length, 0);
  const reports = () => lines.filter((line) => line.text.includes('does not support'));
  assert.deepEqual(
    reports().map((line) => [...(line.fields['missing'] as string[])].sort()),
    [[...missing].sort()],
  );
  vpp.hangUp();
  await settle();
  await clock.advance(5000);
  assert.equal(client.generation, 2);
  assert.equal(reports().length, 1, 'the same list is not reported again');
});

test('requests of one turn are sent in one write; replies in any order reach their callers', async () => {
  const { vpp, client } = await connected();
  const before = vpp.writes;
  const waiting: Received[] = [];
  vpp.scripts.set('acl_add_replace', (message) => waiting.push(message));
  const all = Array.from({ length: 100 }, (_, i) =>
    client.request('acl_add_replace', { acl_index: i, tag: `acl ${i}`, r: [] }),
  );
  await settle();
  assert.equal(vpp.writes - before, 1);
  assert.equal(waiting.length, 100);
  assert.equal(new Set(waiting.map(({ context }) => context)).size, 100);
  const random = seededRandom(7);
  waiting.sort(() => random.next() - 0.5);
  for (const { fields, context } of waiting)
    vpp.reply('acl_add_replace_reply', { acl_index: fields['acl_index'], retval: 0 }, context);
  const replies = await Promise.all(all);
  assert.deepEqual(
    replies.map((reply) => reply.acl_index),
    all.map((_, i) => i),
  );
});

test('no more requests are in flight than the window allows; queued requests are sent in order', async () => {
  const { vpp, client } = await connected({ maxInFlight: 10 });
  const open: Received[] = [];
  let most = 0;
  vpp.scripts.set('sw_interface_set_flags', (message) => {
    open.push(message);
    most = Math.max(most, open.length);
  });
  const all = Array.from({ length: 300 }, (_, i) =>
    client.request('sw_interface_set_flags', flags(i)),
  );
  const order: unknown[] = [];
  for (let round = 0; order.length < 300; round++) {
    await settle(2);
    assert.ok(open.length > 0, `no progress after ${order.length}`);
    // answers come one by one and several at once
    for (const { fields, context } of open.splice(0, 1 + (round % 7))) {
      order.push(fields['sw_if_index']);
      vpp.reply('sw_interface_set_flags_reply', { retval: 0 }, context);
    }
  }
  await Promise.all(all);
  assert.equal(most, 10);
  assert.deepEqual(order, [...order.keys()]);
});

test('a negative retval rejects with request and retval; the connection stays', async () => {
  const { vpp, client } = await connected();
  vpp.answer('delete_loopback', 'delete_loopback_reply', ({ fields }) => ({
    retval: fields['sw_if_index'] === 5 ? -2 : 0,
  }));
  await assert.rejects(client.request('delete_loopback', { sw_if_index: 5 }), (error) => {
    assert.ok(error instanceof VppRefusedError);
    assert.equal(error.retval, -2);
    assert.equal(error.vppMessage, 'delete_loopback');
    return true;
  });
  await client.request('delete_loopback', { sw_if_index: 6 });
  assert.equal(client.generation, 1);
});

test('a rejected request frees its slot in the window', async () => {
  const { vpp, client } = await connected({ maxInFlight: 2 });
  vpp.answer('delete_loopback', 'delete_loopback_reply', () => ({ retval: -2 }));
  const all = Array.from({ length: 9 }, () =>
    client.request('delete_loopback', { sw_if_index: 1 }),
  );
  for (const request of all) await assert.rejects(request, VppRefusedError);
});

test('a burst too long for one write is sent in several, without waiting for answers', async () => {
  const { vpp, client } = await connected({ maxInFlight: 1000 });
  vpp.scripts.set('cli_inband', () => undefined);
  const before = vpp.writes;
  const cmd = 'x'.repeat(5000);
  const all = Array.from({ length: 200 }, () => client.request('cli_inband', { cmd }));
  const gone = Promise.allSettled(all);
  await settle();
  assert.equal(vpp.received.length, 200);
  assert.ok(
    vpp.writes - before >= 14 && vpp.writes - before <= 20,
    `${vpp.writes - before} writes`,
  );
  await client.close();
  await gone;
});

test('an invalid field rejects before the request is sent, and other requests are unaffected', async () => {
  const { vpp, client } = await connected();
  vpp.answer('sw_interface_set_flags', 'sw_interface_set_flags_reply', () => ({ retval: 0 }));
  const good = [1, 2].map((i) => client.request('sw_interface_set_flags', flags(i)));
  const bad = client.request('sw_interface_set_flags', flags(-1));
  const more = client.request('sw_interface_set_flags', flags(3));
  await assert.rejects(bad, InvalidMessageError);
  await Promise.all([...good, more]);
  assert.deepEqual(
    vpp.received.map(({ fields }) => fields['sw_if_index']),
    [1, 2, 3],
  );
});

test('changing the fields object after the call has no effect', async () => {
  const { vpp, client } = await connected({ maxInFlight: 1 });
  vpp.answer('sw_interface_set_flags', 'sw_interface_set_flags_reply', () => ({ retval: 0 }));
  const fields = { sw_if_index: 1, flags: 1 };
  const all = [client.request('sw_interface_set_flags', fields)];
  fields.sw_if_index = 2;
  all.push(client.request('sw_interface_set_flags', fields)); // waits in the queue
  fields.sw_if_index = 3;
  await Promise.all(all);
  assert.deepEqual(
    vpp.received.map((message) => message.fields['sw_if_index']),
    [1, 2],
  );
});

test('events reach their listeners; one that throws does not affect the others', async () => {
  const { vpp, client, lines } = await connected();
  const seen: number[] = [];
  client.onEvent('sw_interface_event', () => {
    throw new Error('listener is broken');
  });
  const stop = client.onEvent('sw_interface_event', (event) => seen.push(event.sw_if_index));
  const event = (sw_if_index: number) =>
    vpp.reply('sw_interface_event', { pid: 1, sw_if_index, flags: 3, deleted: false });
  event(1);
  // longer than the event: ignored
  const long = Buffer.concat([
    vpp.frame('sw_interface_event', { pid: 1, sw_if_index: 9, flags: 3, deleted: false }),
    Buffer.of(0),
  ]);
  long.writeUInt32BE(long.length - 16, 8);
  vpp.send(long);
  event(2);
  await settle();
  stop();
  event(3);
  await settle();
  assert.deepEqual(seen, [1, 2]);
  assert.equal(lines.filter((line) => line.text === 'event listener failed').length, 3);
  assert.equal(lines.filter((line) => line.text === 'ignoring invalid VPP event').length, 1);
  assert.equal(client.state, 'connected');
});

test('unexpected replies are logged once per name and ignored', async () => {
  const { vpp, client, lines } = await connected();
  vpp.answer('sw_interface_set_flags', 'sw_interface_set_flags_reply', () => ({ retval: 0 }));
  vpp.scripts.set('sw_interface_set_flags', ({ context }) => {
    vpp.reply('acl_del_reply', { retval: -5 }, context); // right context, wrong message
    vpp.reply('sw_interface_set_flags_reply', { retval: -5 }, context + 1000);
    vpp.reply('sw_interface_set_flags_reply', { retval: 0 }, context);
    vpp.reply('sw_interface_set_flags_reply', { retval: -5 }, context); // a second answer
    const unknown = vpp.frame('acl_del_reply', { retval: 0 }, context);
    unknown.writeUInt16BE(60_000, 16);
    vpp.send(unknown);
    const headless = Buffer.alloc(18);
    headless.writeUInt32BE(2, 8);
    headless.writeUInt16BE(vpp.messageId('acl_del_reply'), 16);
    vpp.send(headless); // no context in it
  });
  for (let i = 0; i < 3; i++) {
    const reply = await client.request('sw_interface_set_flags', flags(i));
    assert.deepEqual(reply, { retval: 0 });
  }
  await settle();
  const names = lines
    .filter((line) => line.text === 'ignoring unexpected message from VPP')
    .map((line) => line.fields['message']);
  assert.deepEqual(names.sort(), [
    'acl_del_reply',
    'message 60000',
    'sw_interface_set_flags_reply',
  ]);
});

test('an invalid reply rejects only its request', async () => {
  const { vpp, client } = await connected();
  vpp.scripts.set('create_loopback', ({ context }) => {
    const short = vpp.frame('create_loopback_reply', { retval: 0, sw_if_index: 1 }, context);
    short.writeUInt32BE(short.length - 17, 8);
    vpp.send(short.subarray(0, short.length - 1));
  });
  const broken = client.request('create_loopback', { mac_address: new Uint8Array(6) });
  const healthy = client.request('control_ping', {});
  await assert.rejects(broken, InvalidMessageError);
  await healthy;
  assert.equal(client.generation, 1);
});

test('before the first connect and after close everything rejects with VppDisconnectedError', async () => {
  const { vpp, client, clock } = unconnected();
  await assert.rejects(client.request('control_ping', {}), VppDisconnectedError);
  await assert.rejects(client.dump('ip_table_dump', {}), VppDisconnectedError);
  assert.throws(() => client.has('control_ping'), VppDisconnectedError);
  client.start();
  await client.whenConnected();
  vpp.scripts.set('sw_interface_set_flags', () => undefined);
  const rejected = assert.rejects(
    client.request('sw_interface_set_flags', flags(1)),
    VppDisconnectedError,
  );
  await client.close();
  await rejected;
  assert.equal(client.state, 'closed');
  await assert.rejects(client.request('control_ping', {}), VppDisconnectedError);
  await assert.rejects(client.whenConnected(), VppDisconnectedError);
  assert.equal(clock.pending, 0, 'no timer is left');
});
