import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { CodedError } from '#infra/errors/errors.ts';
import { silentLogger } from '#infra/log/log.ts';
import { bundledCatalog } from '#vpp/binapi/catalog.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { memoryPair } from '#vpp/binapi/transport/memory.ts';
import { type Received, ScriptedVpp, settle } from './scripted-vpp.ts';

/** How a faulty VPP handles one request. */
type FaultyAnswer =
  | { readonly kind: 'answer' | 'answer twice' | 'no answer' | 'disconnect' }
  | { readonly kind: 'garbage' | 'garbage in a frame'; readonly bytes: Uint8Array }
  | { readonly kind: 'unexpected reply'; readonly message: string; readonly context: number }
  | { readonly kind: 'wrong length'; readonly length: number }
  | { readonly kind: 'truncated reply'; readonly length: number };

const names = [...bundledCatalog().codecs.keys()];
const bytes = fc.uint8Array({ maxLength: 64 });
const faultyAnswer: fc.Arbitrary<FaultyAnswer> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<FaultyAnswer>({ kind: 'answer' }) },
  fc.constantFrom<FaultyAnswer>({ kind: 'answer twice' }, { kind: 'no answer' }),
  { weight: 1, arbitrary: fc.constant<FaultyAnswer>({ kind: 'disconnect' }) },
  fc.record({ kind: fc.constantFrom('garbage' as const, 'garbage in a frame' as const), bytes }),
  fc.record({
    kind: fc.constant('unexpected reply' as const),
    message: fc.constantFrom(...names),
    context: fc.integer({ min: 0, max: 60 }),
  }),
  fc.record({
    kind: fc.constant('wrong length' as const),
    length: fc.integer({ min: 0, max: 0xffffffff }),
  }),
  fc.record({ kind: fc.constant('truncated reply' as const), length: fc.nat({ max: 30 }) }),
);

function inFrame(payload: Uint8Array, length = payload.length): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt32BE(length, 8);
  return Buffer.concat([header, payload]);
}

/** The bytes that it sends as, or instead of, the answer. */
function answerBytes(
  vpp: ScriptedVpp,
  { name, context }: Received,
  answer: FaultyAnswer,
): Uint8Array {
  const reply = name === 'control_ping' ? 'control_ping_reply' : 'sw_interface_set_flags_reply';
  const codec = bundledCatalog().codec(reply);
  const frame = vpp.frame(reply, codec.zero(), context);
  switch (answer.kind) {
    case 'answer':
      return frame;
    case 'answer twice':
      return Buffer.concat([frame, frame]);
    case 'no answer':
    case 'disconnect':
      return new Uint8Array(0);
    case 'garbage':
      return answer.bytes;
    case 'garbage in a frame':
      return inFrame(answer.bytes);
    case 'unexpected reply':
      return vpp.frame(
        answer.message,
        bundledCatalog().codec(answer.message).zero(),
        answer.context,
      );
    case 'wrong length':
      return inFrame(frame.subarray(16), answer.length);
    case 'truncated reply':
      return inFrame(frame.subarray(16, 16 + answer.length));
  }
}

test('after any faulty answers each request settles once, and a healthy VPP is used again', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(faultyAnswer, { minLength: 1, maxLength: 40 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 }),
      async (answers, cuts) => {
        const vpp = new ScriptedVpp();
        const clock = new ManualClock();
        const client = new BinapiClient({
          connect: async () => {
            // data from VPP arrives in small chunks
            const inner = await vpp.connect();
            const outer = {
              ...inner,
              write: inner.write.bind(inner),
              close: inner.close.bind(inner),
            };
            inner.onClose = (error) => outer.onClose(error);
            inner.onDrain = () => outer.onDrain();
            inner.onData = (chunk) => {
              for (let at = 0, i = 0; at < chunk.length; i++) {
                const size = cuts[i % cuts.length]!;
                outer.onData(chunk.subarray(at, at + size));
                at += size;
              }
            };
            return outer;
          },
          clock,
          random: seededRandom(5),
          log: silentLogger,
          replyTimeoutMs: 1000,
          maxInFlight: 4,
        });
        let next = 0;
        const script = (message: Received) => {
          const answer = answers[next++] ?? { kind: 'answer' };
          vpp.send(answerBytes(vpp, message, answer));
          if (answer.kind === 'disconnect') vpp.hangUp();
        };
        vpp.scripts.set('sw_interface_set_flags', script);
        vpp.scripts.set('control_ping', script);
        client.start();
        await client.whenConnected();
        let settled = 0;
        const count = () => settled++;
        const requests = answers.map((_, i) =>
          i % 3 === 0
            ? client.dump('ip_table_dump', {})
            : client.request('sw_interface_set_flags', { sw_if_index: i, flags: 0 }),
        );
        const errors: unknown[] = [];
        for (const request of requests)
          request.then(count, (error) => {
            count();
            errors.push(error);
          });
        for (let i = 0; i < 8; i++) await clock.advance(1500);
        assert.equal(settled, requests.length);
        assert.ok(
          errors.every((error) => error instanceof CodedError),
          String(errors),
        );
        // from now on VPP is healthy; if the stream is out of sync, a timeout ends the connection
        next = answers.length;
        let isHealthy = false;
        for (let attempt = 0; attempt < 4 && !isHealthy; attempt++) {
          client.request('sw_interface_set_flags', { sw_if_index: 1, flags: 0 }).then(
            () => {
              isHealthy = true;
            },
            () => undefined,
          );
          await clock.advance(3000);
        }
        assert.ok(isHealthy, 'a healthy VPP is not used again');
        await client.close();
        assert.equal(settled, requests.length);
        assert.equal(clock.pending, 0);
      },
    ),
    { numRuns: 60, timeout: 10_000 },
  );
});

test('random bytes instead of a handshake reply', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 5 }),
      async (parts) => {
        const clock = new ManualClock();
        let connects = 0;
        const client = new BinapiClient({
          connect: async () => {
            connects++;
            const [client, server] = memoryPair();
            for (const part of parts) {
              server.write(part);
              server.write(inFrame(Buffer.concat([Buffer.of(0, 16), part])));
            }
            return client;
          },
          clock,
          random: seededRandom(5),
          log: silentLogger,
        });
        client.start();
        await clock.advance(10_000);
        assert.ok(connects >= 3, 'it tries again');
        assert.equal(client.generation, 0);
        await client.close();
        assert.equal(clock.pending, 0);
      },
    ),
    { numRuns: 30, timeout: 10_000 },
  );
});

test('a flood of unexpected messages does not use memory', async () => {
  const vpp = new ScriptedVpp();
  const client = new BinapiClient({
    connect: vpp.connect,
    clock: new ManualClock(),
    random: seededRandom(1),
    log: silentLogger,
  });
  client.start();
  await client.whenConnected();
  const flood = Buffer.concat(
    Array.from({ length: 2000 }, (_, i) => vpp.frame('acl_del_reply', { retval: 0 }, i + 1000)),
  );
  const heap = () => {
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  };
  for (let i = 0; i < 5; i++) vpp.send(flood);
  await settle();
  const before = heap();
  for (let i = 0; i < 100; i++) {
    vpp.send(flood);
    await settle(1);
  }
  assert.ok(heap() - before < 20 * 1024 * 1024, 'heap grows');
  await client.request('control_ping', {});
  await client.close();
});

test('ten million random bytes, with and without frames, do not leak memory', async () => {
  const vpp = new ScriptedVpp();
  const clock = new ManualClock();
  const random = seededRandom(7);
  const client = new BinapiClient({
    connect: vpp.connect,
    clock,
    random,
    log: silentLogger,
    reconnect: { firstMs: 1, maxMs: 1 },
  });
  client.start();
  await client.whenConnected();
  const chunk = Buffer.from(random.bytes(64 * 1024));
  const memory = () => {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const idle = memory();
  let most = 0;
  for (let sent = 0; sent < 10_000_000; sent += chunk.length) {
    // Raw bytes end the connection at an invalid length; complete frames are rejected one by one.
    const at = Math.floor(random.next() * 1000);
    const part = chunk.subarray(at);
    vpp.send(random.next() < 0.5 ? part : inFrame(part));
    await settle(1);
    most = Math.max(most, memory() - idle);
    await clock.advance(10);
  }
  assert.ok(most < 64 * 1024 * 1024, `${most} bytes above idle`);
  await client.whenConnected();
  await client.request('control_ping', {});
  await client.close();
});
