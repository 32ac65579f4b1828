import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { ErrVppGone, ErrVppTimeout, type Transport } from '#southbound/vpp/binapi/api.ts';
import { bundledCatalogue } from '#southbound/vpp/binapi/catalogue.ts';
import { Backoff } from '#southbound/vpp/binapi/client/backoff.ts';
import { BinapiClient } from '#southbound/vpp/binapi/client/client.ts';
import { Writer } from '#southbound/vpp/binapi/codec/writer.ts';
import { writeFrame } from '#southbound/vpp/binapi/frame.ts';
import { memoryPair } from '#southbound/vpp/binapi/transport/memory.ts';
import {
  connected,
  type Received,
  recordingLog,
  ScriptedVpp,
  settle,
  unconnected,
} from './scripted-vpp.ts';

const flags = (sw_if_index: number) => ({ sw_if_index, flags: 1 });

/** Outcomes of promises, counted once each. */
function watch(promises: readonly Promise<unknown>[]): {
  readonly errors: unknown[];
  readonly settled: () => number;
} {
  const errors: unknown[] = [];
  let settled = 0;
  for (const promise of promises)
    promise.then(
      () => settled++,
      (error) => {
        settled++;
        errors.push(error);
      },
    );
  return { errors, settled: () => settled };
}

test('VPP gone with 1,000 in flight: each rejects once, then a new life begins', async () => {
  const { vpp, client, clock } = await connected({ maxInFlight: 400 });
  const states: string[] = [];
  client.onStateChange((state) => states.push(state));
  vpp.scripts.set('sw_interface_set_flags', () => undefined);
  const all = Array.from({ length: 1000 }, (_, i) =>
    client.request('sw_interface_set_flags', flags(i)),
  );
  const { errors, settled } = watch([...all, client.dump('ip_table_dump', {})]);
  await settle();
  assert.equal(vpp.received.length, 400);
  vpp.isDown = true;
  vpp.hangUp();
  await settle();
  assert.equal(settled(), 1001);
  assert.equal(errors.length, 1001);
  assert.ok(errors.every((error) => error instanceof ErrVppGone));
  assert.equal(client.state, 'disconnected');
  await assert.rejects(client.request('control_ping', {}), ErrVppGone);
  await clock.advance(10_000);
  assert.equal(client.generation, 1);
  vpp.isDown = false;
  await clock.advance(3000);
  assert.equal(client.generation, 2);
  await client.request('control_ping', {});
  assert.equal(states[0], 'disconnected');
  assert.equal(states.at(-1), 'connected');
});

test('callers who hear that VPP is gone see the client disconnected', async () => {
  const { vpp, client } = await connected();
  vpp.scripts.set('sw_interface_set_flags', () => undefined);
  const state = client.request('sw_interface_set_flags', flags(1)).catch(() => client.state);
  await settle();
  vpp.hangUp();
  assert.equal(await state, 'disconnected');
});

test('an unanswered request times out, and its connection goes with it', async () => {
  const { vpp, client, clock } = await connected({ replyTimeoutMs: 1000 });
  vpp.scripts.set('sw_interface_set_flags', () => undefined);
  const first = client
    .request('sw_interface_set_flags', flags(1))
    .catch((thrown: unknown) => thrown);
  const second = client
    .request('sw_interface_set_flags', flags(2))
    .catch((thrown: unknown) => thrown);
  await settle();
  await clock.advance(999);
  assert.equal(client.state, 'connected');
  await clock.advance(1);
  const error = await first;
  assert.ok(error instanceof ErrVppTimeout);
  assert.match(error.message, /sw_interface_set_flags.*1000 ms/);
  assert.ok((await second) instanceof ErrVppGone);
  await clock.advance(1000);
  assert.equal(client.generation, 2);
});

test('a long queue is no reason for a time-out: the limit begins with the head', async () => {
  const { vpp, client, clock } = await connected({ replyTimeoutMs: 1000 });
  const open: Received[] = [];
  vpp.scripts.set('sw_interface_set_flags', (message) => open.push(message));
  const all = Array.from({ length: 20 }, (_, i) =>
    client.request('sw_interface_set_flags', flags(i)),
  );
  const { errors } = watch(all);
  await settle();
  for (let i = 0; i < 19; i++) {
    await clock.advance(900);
    vpp.reply('sw_interface_set_flags_reply', { retval: 0 }, open[i]!.context);
    await settle();
  }
  assert.equal(errors.length, 0);
  await clock.advance(1000);
  assert.ok(errors[0] instanceof ErrVppTimeout);
});

test('one that VPP dropped times out although all others are answered', async () => {
  const { vpp, client, clock } = await connected({ replyTimeoutMs: 1000 });
  vpp.scripts.set('sw_interface_set_flags', ({ fields, context }) => {
    if (fields['sw_if_index'] !== 0)
      vpp.reply('sw_interface_set_flags_reply', { retval: 0 }, context);
  });
  const lost = client.request('sw_interface_set_flags', flags(0)).catch((error: unknown) => error);
  for (let i = 1; i <= 10; i++) {
    await client.request('sw_interface_set_flags', flags(i)).catch(() => undefined);
    await clock.advance(100);
  }
  assert.ok((await lost) instanceof ErrVppTimeout);
});

test('a long dump is alive as long as details come', async () => {
  const { vpp, client, clock } = await connected({ replyTimeoutMs: 1000 });
  vpp.scripts.set('control_ping', () => undefined);
  const dump = client.dump('ip_unnumbered_dump', {});
  await settle();
  const { context } = vpp.received[0]!;
  for (let i = 0; i < 10; i++) {
    await clock.advance(900);
    vpp.reply('ip_unnumbered_details', { sw_if_index: i, ip_sw_if_index: 0 }, context);
    await settle();
  }
  vpp.reply('control_ping_reply', { retval: 0, vpe_pid: 0 }, context);
  assert.equal((await dump).length, 10);
});

/** Does something where a process would read its sockets: after timers, before the next turn. */
class PollingClock extends ManualClock {
  onPoll: () => void = () => undefined;
  override turn(): Promise<void> {
    this.onPoll();
    return super.turn();
  }
}

test('an answer that waits in the socket when the timer fires is taken', async () => {
  const clock = new PollingClock();
  const { vpp, client } = await connected({ replyTimeoutMs: 1000, clock });
  vpp.scripts.set('sw_interface_set_flags', () => undefined);
  const request = client.request('sw_interface_set_flags', flags(1));
  await settle();
  const { context } = vpp.received[0]!;
  await clock.advance(999);
  const due = clock.monotonic() + 1;
  clock.onPoll = () => {
    if (clock.monotonic() < due) return;
    clock.onPoll = () => undefined;
    vpp.reply('sw_interface_set_flags_reply', { retval: 0 }, context);
  };
  await clock.advance(1);
  assert.deepEqual(await request, { retval: 0 });
  assert.equal(client.generation, 1);
});

/** A clock that can stand still, as a process does that is not scheduled: timers then fire late. */
class StallingClock extends ManualClock {
  late = 0;
  override monotonic(): number {
    return super.monotonic() + this.late;
  }
}

test('a stall of our own process begins the limit anew', async () => {
  const clock = new StallingClock();
  const { vpp, client } = await connected({ replyTimeoutMs: 1000, clock });
  vpp.scripts.set('sw_interface_set_flags', () => undefined);
  const outcome = watch([client.request('sw_interface_set_flags', flags(1))]);
  await settle();
  await clock.advance(500);
  clock.late = 20_000;
  await clock.advance(500); // fires now, 20 s too late
  assert.equal(outcome.settled(), 0);
  await clock.advance(999);
  assert.equal(outcome.settled(), 0);
  await clock.advance(1);
  assert.ok(outcome.errors[0] instanceof ErrVppTimeout);
});

test('waits between attempts double up to the most, spread by chance', () => {
  const backoff = new Backoff({ firstMs: 50, mostMs: 2000 }, seededRandom(3));
  const steps = [50, 100, 200, 400, 800, 1600, 2000, 2000, 2000];
  const waits = steps.map(() => backoff.next());
  for (const [i, step] of steps.entries())
    assert.ok(waits[i]! >= step / 2 && waits[i]! <= step, `${waits[i]}`);
  assert.equal(new Set(waits).size, waits.length);
  backoff.reset();
  assert.ok(backoff.next() <= 50);
});

test('a VPP that is not there is asked ever more rarely', async () => {
  const { vpp, client, clock } = unconnected();
  let attempts = 0;
  const { connect } = vpp;
  const counting = new BinapiClient({
    connect: () => {
      attempts++;
      return connect();
    },
    clock,
    random: seededRandom(1),
    log: silentLogger,
  });
  vpp.isDown = true;
  counting.start();
  await clock.advance(4000);
  const early = attempts;
  assert.ok(early >= 7 && early <= 12, `${early} attempts in 4 s`);
  await clock.advance(20_000);
  assert.ok(attempts - early >= 10 && attempts - early <= 20, `${attempts - early} in 20 s`);
  await counting.close();
  await client.close();
  assert.equal(clock.pending, 0);
});

test('a VPP that hangs up at once is not asked more often than one that is not there', async () => {
  const { vpp, client, clock } = unconnected();
  client.onStateChange((state) => {
    if (state === 'connected') vpp.hangUp();
  });
  client.start();
  await clock.advance(24_000);
  assert.ok(vpp.connects >= 10 && vpp.connects <= 32, `${vpp.connects} connects`);
  await client.close();
});

test('after a long life the first new attempt comes soon', async () => {
  const { vpp, client, clock } = await connected();
  vpp.isDown = true;
  for (let i = 0; i < 3; i++) {
    vpp.hangUp();
    await settle();
    await clock.advance(10_000);
    vpp.isDown = false;
    await clock.advance(2000);
    assert.equal(client.state, 'connected');
    await clock.advance(10_000);
    vpp.hangUp();
    await settle();
    await clock.advance(51);
    assert.equal(client.state, 'connected', `round ${i}`);
    vpp.isDown = true;
  }
});

test('the greeting has a time limit', async () => {
  const { vpp, client, clock, lines } = unconnected({ handshakeTimeoutMs: 3000 });
  vpp.isHung = true;
  client.start();
  await clock.advance(2999);
  assert.equal(client.state, 'connecting');
  assert.equal(vpp.connects, 1);
  await clock.advance(200);
  assert.equal(vpp.connects, 2);
  assert.match(String(lines[0]?.fields['error']), /greeting within 3000 ms/);
  vpp.isHung = false;
  await clock.advance(4000);
  assert.equal(client.state, 'connected');
  await client.close();
});

test('a VPP that hangs up at the greeting or refuses it is tried again', async () => {
  const greetings: ((server: Transport) => void)[] = [
    (server) => server.close(),
    (server) => {
      const codec = bundledCatalogue().codec('sockclnt_create_reply');
      const writer = new Writer(64);
      writeFrame(writer, codec, { ...codec.zero(), response: -19 }, 16, 0, 0);
      server.write(writer.bytes.subarray(0, writer.length));
    },
  ];
  const vpp = new ScriptedVpp();
  const clock = new ManualClock();
  const { log, lines } = recordingLog();
  const client = new BinapiClient({
    connect: async () => {
      const greeting = greetings.shift();
      if (!greeting) return vpp.connect();
      const [ours, theirs] = memoryPair();
      theirs.onData = () => greeting(theirs);
      return ours;
    },
    clock,
    random: seededRandom(1),
    log,
  });
  client.start();
  await clock.advance(1000);
  assert.equal(client.state, 'connected');
  const errors = lines.map((line) => String(line.fields['error']));
  assert.match(errors[0]!, /hung up at the greeting/);
  assert.match(errors[1]!, /refuses clients with -19/);
  await client.close();
});

test('the same failure to connect is reported once', async () => {
  const { vpp, client, clock, lines } = unconnected();
  vpp.isDown = true;
  client.start();
  await clock.advance(20_000);
  assert.equal(lines.length, 1);
  vpp.isDown = false;
  await clock.advance(2000);
  vpp.isDown = true;
  vpp.hangUp();
  await clock.advance(20_000);
  assert.deepEqual(
    lines.map((line) => line.text),
    ['cannot connect to VPP', 'connection to VPP lost', 'cannot connect to VPP'],
  );
  await client.close();
});

test('a listener for states that throws harms nobody', async () => {
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

test('a cursor stream whose VPP goes away in the middle rejects', async () => {
  const { vpp, client } = await connected();
  let pages = 0;
  vpp.scripts.set('nat44_ed_output_interface_get', ({ context }) => {
    if (++pages === 3) return vpp.hangUp();
    vpp.reply('nat44_ed_output_interface_details', { sw_if_index: pages }, context);
    vpp.reply('nat44_ed_output_interface_get_reply', { retval: -165, cursor: pages }, context);
  });
  await assert.rejects(client.dump('nat44_ed_output_interface_get', {}), ErrVppGone);
  assert.equal(pages, 3);
});

const health = { intervalMs: 3000, limitMs: 500, misses: 3 };

test('three probes unanswered drop the connection', async () => {
  const { vpp, client, clock } = await connected({ health, replyTimeoutMs: 1e9 });
  await clock.advance(60_000);
  assert.equal(client.generation, 1);
  assert.equal(vpp.received.length, 20);
  vpp.isHung = true;
  const { errors } = watch([client.request('sw_interface_set_flags', flags(1))]);
  await clock.advance(9499);
  assert.equal(client.state, 'connected');
  await clock.advance(1);
  assert.notEqual(client.state, 'connected');
  assert.ok(errors[0] instanceof ErrVppGone);
  vpp.isHung = false;
  await clock.advance(10_000);
  assert.equal(client.generation, 2);
});

test('probes missed now and then do no harm, and anything VPP sends is a sign of life', async () => {
  const { vpp, client, clock } = await connected({ health });
  let probes = 0;
  vpp.scripts.set('control_ping', ({ context }) => {
    if (++probes % 3 === 0) vpp.reply('control_ping_reply', { retval: 0, vpe_pid: 1 }, context);
  });
  await clock.advance(60_000);
  assert.equal(client.generation, 1);
  vpp.scripts.set('control_ping', () =>
    vpp.reply('sw_interface_event', { pid: 1, sw_if_index: 1, flags: 0, deleted: false }),
  );
  await clock.advance(60_000);
  assert.equal(client.generation, 1);
});

test('probes find a stream that is out of step: bytes come, but no message', async () => {
  const { vpp, client, clock } = await connected({ health, replyTimeoutMs: 1e9 });
  const header = Buffer.alloc(16);
  header.writeUInt32BE(1_000_000, 8);
  vpp.send(header);
  await clock.advance(12_000);
  assert.equal(client.generation, 2);
  await client.request('control_ping', {});
  await client.close();
});

test('close() ends whatever the client is doing', async () => {
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

test('a transport that is full is not written to; nothing is lost', async () => {
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
  const { settled } = watch(all);
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
