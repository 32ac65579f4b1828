import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { type Transport, VppDisconnectedError } from '#vpp/binapi/api.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { countSettled, setFlagsFields } from './count-settled.ts';
import { connected, ScriptedVpp, settle, unconnected } from './scripted-vpp.ts';

test('VPP disconnects with 1,000 requests pending: each rejects once, then the client reconnects', async () => {
  const { vpp, client, clock } = await connected({ maxInFlight: 400 });
  const states: string[] = [];
  client.onStateChange((state) => states.push(state));
  vpp.scripts.set('sw_interface_set_flags', () => undefined);
  const all = Array.from({ length: 1000 }, (_, i) =>
    client.request('sw_interface_set_flags', setFlagsFields(i)),
  );
  const { errors, settled } = countSettled([...all, client.dump('ip_table_dump', {})]);
  await settle();
  assert.equal(vpp.received.length, 400);
  vpp.isDown = true;
  vpp.hangUp();
  await settle();
  assert.equal(settled(), 1001);
  assert.equal(errors.length, 1001);
  assert.ok(errors.every((error) => error instanceof VppDisconnectedError));
  assert.equal(client.state, 'disconnected');
  await assert.rejects(client.request('control_ping', {}), VppDisconnectedError);
  await clock.advance(10_000);
  assert.equal(client.generation, 1);
  vpp.isDown = false;
  await clock.advance(3000);
  assert.equal(client.generation, 2);
  await client.request('control_ping', {});
  assert.equal(states[0], 'disconnected');
  assert.equal(states.at(-1), 'connected');
});

test('when a request rejects, the client is already in state disconnected', async () => {
  const { vpp, client } = await connected();
  vpp.scripts.set('sw_interface_set_flags', () => undefined);
  const state = client
    .request('sw_interface_set_flags', setFlagsFields(1))
    .catch(() => client.state);
  await settle();
  vpp.hangUp();
  assert.equal(await state, 'disconnected');
});

test('a state listener that throws does not affect other listeners', async () => {
  const { vpp, client, lines } = unconnected();
  const states: string[] = [];
  client.onStateChange(() => {
    throw new Error('listener is broken');
  });
  const stop = client.onStateChange((state) => states.push(state));
  client.start();
  await client.whenConnected();
  stop();
  vpp.hangUp();
  await settle();
  assert.deepEqual(states, ['connecting', 'connected']);
  assert.equal(lines.filter((line) => line.text === 'state listener failed').length, 3);
  await client.close();
});

test('a cursor stream rejects when VPP disconnects in the middle', async () => {
  const { vpp, client } = await connected();
  let pages = 0;
  vpp.scripts.set('nat44_ed_output_interface_get', ({ context }) => {
    if (++pages === 3) return vpp.hangUp();
    vpp.reply('nat44_ed_output_interface_details', { sw_if_index: pages }, context);
    vpp.reply('nat44_ed_output_interface_get_reply', { retval: -165, cursor: pages }, context);
  });
  await assert.rejects(client.dump('nat44_ed_output_interface_get', {}), VppDisconnectedError);
  assert.equal(pages, 3);
});

test('close() ends the client in any state', async () => {
  for (const when of ['connecting', 'greeting', 'waiting', 'never started'] as const) {
    const { vpp, client, clock } = unconnected({
      ...(when === 'connecting' && { connect: () => new Promise<Transport>(() => undefined) }),
    });
    vpp.isHung = when === 'greeting';
    vpp.isDown = when === 'waiting';
    if (when !== 'never started') client.start();
    await settle();
    await client.close();
    assert.equal(client.state, 'closed', when);
    assert.equal(clock.pending, 0, when);
    await clock.advance(10_000);
    assert.ok(vpp.connects <= 1, when);
  }
});

test('the client does not write to a full transport, and no message is lost', async () => {
  const vpp = new ScriptedVpp();
  vpp.answer('acl_add_replace', 'acl_add_replace_reply', ({ fields }) => ({
    acl_index: fields['acl_index'],
    retval: 0,
  }));
  let isFull = false;
  let written = 0;
  let drain: () => void = () => undefined;
  const client = new BinapiClient({
    connect: async () => {
      const inner = await vpp.connect();
      const write = inner.write.bind(inner);
      inner.write = (bytes) => {
        assert.ok(!isFull, 'written although full');
        written += bytes.length;
        write(bytes);
        if (written > 100_000) isFull = true;
        return !isFull;
      };
      drain = () => {
        isFull = false;
        written = 0;
        inner.onDrain();
      };
      return inner;
    },
    clock: new ManualClock(),
    random: seededRandom(1),
    log: silentLogger,
    maxInFlight: 1e6,
  });
  client.start();
  await client.whenConnected();
  const rules = Array.from({ length: 100 }, () => ({
    is_permit: 1,
    src_prefix: { address: { af: 0, un: new Uint8Array(4) }, len: 0 },
    dst_prefix: { address: { af: 0, un: new Uint8Array(4) }, len: 0 },
    proto: 0,
    srcport_or_icmptype_first: 0,
    srcport_or_icmptype_last: 0,
    dstport_or_icmpcode_first: 0,
    dstport_or_icmpcode_last: 0,
    tcp_flags_mask: 0,
    tcp_flags_value: 0,
  }));
  const all = Array.from({ length: 200 }, (_, i) =>
    client.request('acl_add_replace', { acl_index: i, tag: '', r: rules }),
  );
  const { settled } = countSettled(all);
  let rounds = 0;
  for (; settled() < 200 && rounds < 100; rounds++) {
    await settle();
    assert.ok(written < 100_000 + 2 * 65_536, `${written} bytes without a drain`);
    drain();
  }
  assert.equal(settled(), 200);
  assert.ok(rounds >= 5, 'it had to wait several times');
  assert.deepEqual(
    (await Promise.all(all)).map((reply) => reply.acl_index),
    all.map((_, i) => i),
  );
});
