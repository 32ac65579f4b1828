import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { type Transport, VppDisconnectedError } from '#vpp/binapi/api.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { serveClient } from '#vpp/binapi/server.ts';
import { memoryPair } from '#vpp/binapi/transport/memory.ts';
import { unixConnect, unixListen } from '#vpp/binapi/transport/unix.ts';
import { settle } from './scripted-vpp.ts';

const folder = mkdtempSync(join(tmpdir(), 'binapi-'));
after(() => rmSync(folder, { recursive: true }));
let sockets = 0;

interface Pair {
  readonly a: Transport;
  readonly b: Transport;
  readonly end: () => void;
}

const makers: Record<string, () => Promise<Pair>> = {
  'in memory': async () => {
    const [a, b] = memoryPair();
    return { a, b, end: () => undefined };
  },
  'unix socket': async () => {
    const path = join(folder, `${sockets++}.sock`);
    const served = Promise.withResolvers<Transport>();
    const server = await unixListen(path, systemClock, served.resolve);
    const a = await unixConnect(path, systemClock)();
    return { a, b: await served.promise, end: () => server.close() };
  },
};

for (const [kind, make] of Object.entries(makers)) {
  test(`${kind}: bytes arrive in order in both directions`, async () => {
    const { a, b, end } = await make();
    const received = Promise.withResolvers<string>();
    let text = '';
    b.onData = (bytes) => b.write(bytes);
    a.onData = (bytes) => {
      text += Buffer.from(bytes).toString();
      if (text.length === 300) received.resolve(text);
    };
    const sent = Array.from({ length: 100 }, (_, i) => `${i}`.padStart(3));
    for (const part of sent) a.write(Buffer.from(part));
    assert.equal(await received.promise, sent.join(''));
    a.close();
    end();
  });

  test(`${kind}: closing notifies both sides once, only the other one with an error`, async () => {
    const { a, b, end } = await make();
    const closed: [string, boolean][] = [];
    const both = Promise.withResolvers<void>();
    const note = (side: string) => (error: Error | undefined) => {
      closed.push([side, error instanceof Error]);
      if (closed.length === 2) both.resolve();
    };
    a.onClose = note('a');
    b.onClose = note('b');
    let last = '';
    b.onData = (bytes) => {
      last += Buffer.from(bytes).toString();
    };
    a.write(Buffer.from('last words'));
    await settle();
    a.close();
    a.close();
    await both.promise;
    await settle();
    assert.deepEqual(closed.sort(), [
      ['a', false],
      ['b', true],
    ]);
    assert.equal(last, 'last words');
    a.write(Buffer.from('into the void'));
    b.write(Buffer.from('into the void'));
    await settle();
    end();
  });

  test(`${kind}: a writer with a full buffer is notified when it may continue`, async () => {
    const { a, b, end } = await make();
    let received = 0;
    const all = Promise.withResolvers<void>();
    const part = Buffer.alloc(256 * 1024);
    b.onData = (bytes) => {
      received += bytes.length;
      if (received === 40 * part.length) all.resolve();
    };
    let waits = 0;
    for (let i = 0; i < 40; i++) {
      const drained = Promise.withResolvers<void>();
      a.onDrain = drained.resolve;
      if (a.write(part)) continue;
      waits++;
      await drained.promise;
    }
    await all.promise;
    assert.ok(waits > 0);
    a.close();
    end();
  });
}

test('unix socket: connecting fails if no process listens', async () => {
  const path = join(folder, 'absent.sock');
  await assert.rejects(unixConnect(path, systemClock)(), (error) => {
    assert.ok(error instanceof VppDisconnectedError);
    assert.match(error.message, /absent\.sock/);
    return true;
  });
});

test('unix socket: within a large dump the client reads nothing for a while, once until the next request', async () => {
  const path = join(folder, 'dump.sock');
  const clock = new ManualClock();
  const served = Promise.withResolvers<Transport>();
  const server = await unixListen(path, systemClock, served.resolve);
  const client = await unixConnect(path, clock)();
  const vpp = await served.promise;
  let received = 0;
  client.onData = ({ length }) => {
    received += length;
  };
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await systemClock.turn();
  };
  let sent = 0;
  const write = async (messages: number) => {
    for (let i = 0; i < messages; i++) {
      sent += 1024;
      vpp.write(Buffer.alloc(1024));
      await turns();
    }
  };
  const request = async () => {
    client.write(Buffer.alloc(1));
    await turns();
  };
  await write(63);
  await request();
  await write(64);
  assert.equal(received, sent);
  await write(1);
  await request();
  assert.equal(received, sent - 1024, 'a request does not end the pause');
  await clock.advance(12);
  await turns();
  assert.equal(received, sent);
  await write(63);
  assert.equal(received, sent);
  await write(1);
  assert.equal(received, sent - 1024, 'the next dump is large, too');
  await clock.advance(12);
  await turns();
  await write(200);
  assert.equal(received, sent, 'there is one pause');
  client.close();
  server.close();
});

test('unix socket: a client works with a server, loses it and reconnects', async () => {
  const path = join(folder, 'vpp.sock');
  const peers = new Set<{ close(): void }>();
  const listen = () =>
    unixListen(path, systemClock, (transport) => {
      peers.add(
        serveClient(
          transport,
          {
            requests: { create_loopback: ({ mac_address }) => ({ sw_if_index: mac_address[5]! }) },
            dumps: {
              ip_table_dump: () =>
                Array.from({ length: 3000 }, (_, table_id) => ({
                  table: { table_id, is_ip6: false, name: `table ${table_id}` },
                })),
            },
          },
          { log: silentLogger },
        ),
      );
    });
  let server = await listen();
  const client = new BinapiClient({
    connect: unixConnect(path, systemClock),
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
    reconnect: { firstMs: 1, maxMs: 5 },
  });
  client.start();
  await client.whenConnected();
  const loopbacks = Array.from({ length: 2000 }, (_, i) =>
    client.request('create_loopback', { mac_address: Uint8Array.of(2, 0, 0, 0, 0, i & 0xff) }),
  );
  const tables = await client.dump('ip_table_dump', {});
  assert.equal(tables[2999]?.table.name, 'table 2999');
  for (const [i, reply] of (await Promise.all(loopbacks)).entries())
    assert.equal(reply.sw_if_index, i & 0xff);
  for (const peer of peers) peer.close();
  await new Promise((resolve) => server.close(resolve));
  await assert.rejects(client.request('control_ping', {}), VppDisconnectedError);
  server = await listen();
  await client.whenConnected();
  assert.equal(client.generation, 2);
  await client.request('control_ping', {});
  await client.close();
  server.close();
});
