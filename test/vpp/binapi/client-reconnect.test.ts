import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Backoff } from '#infra/clock/backoff.ts';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { Transport } from '#vpp/binapi/api.ts';
import { bundledCatalog } from '#vpp/binapi/catalog.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { Writer } from '#vpp/binapi/codec/writer.ts';
import { writeFrame } from '#vpp/binapi/frame.ts';
import { memoryPair } from '#vpp/binapi/transport/memory.ts';
import { connected, recordingLog, ScriptedVpp, settle, unconnected } from './scripted-vpp.ts';

test('delays between attempts double up to the maximum, with random jitter', () => {
  const backoff = new Backoff({ firstMs: 50, maxMs: 2000 }, seededRandom(3));
  const steps = [50, 100, 200, 400, 800, 1600, 2000, 2000, 2000];
  const waits = steps.map(() => backoff.next());
  for (const [i, step] of steps.entries())
    assert.ok(waits[i]! >= step / 2 && waits[i]! <= step, `${waits[i]}`);
  assert.equal(new Set(waits).size, waits.length);
  backoff.reset();
  assert.ok(backoff.next() <= 50);
});

test('an unreachable VPP is retried with increasing delays', async () => {
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

test('a VPP that disconnects at once is retried no more often than an unreachable one', async () => {
  const { vpp, client, clock } = unconnected();
  client.onStateChange((state) => {
    if (state === 'connected') vpp.hangUp();
  });
  client.start();
  await clock.advance(24_000);
  assert.ok(vpp.connects >= 10 && vpp.connects <= 32, `${vpp.connects} connects`);
  await client.close();
});

test('after a long connection the first new attempt follows soon', async () => {
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

test('the handshake has a timeout', async () => {
  const { vpp, client, clock, lines } = unconnected({ handshakeTimeoutMs: 3000 });
  vpp.isHung = true;
  client.start();
  await clock.advance(2999);
  assert.equal(client.state, 'connecting');
  assert.equal(vpp.connects, 1);
  await clock.advance(200);
  assert.equal(vpp.connects, 2);
  assert.match(String(lines[0]?.fields['error']), /handshake within 3000 ms/);
  vpp.isHung = false;
  await clock.advance(4000);
  assert.equal(client.state, 'connected');
  await client.close();
});

test('a VPP that disconnects during the handshake or refuses the client is retried', async () => {
  const greetings: ((server: Transport) => void)[] = [
    (server) => server.close(),
    (server) => {
      const codec = bundledCatalog().codec('sockclnt_create_reply');
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
  assert.match(errors[0]!, /closed the connection during the handshake/);
  assert.match(errors[1]!, /refused the client with response -19/);
  await client.close();
});

test('a repeated failure to connect is logged once', async () => {
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
