import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { UnsupportedMessageError, VppDisconnectedError } from '#vpp/binapi/api.ts';
import { bundledCatalog } from '#vpp/binapi/catalog.ts';
import { BinapiClient } from '#vpp/binapi/client/client.ts';
import { VppRefusedError } from '#vpp/binapi/retval-error.ts';
import { type Peer, type ServerHandlers, serveClient } from '#vpp/binapi/server.ts';
import { memoryConnect, memoryPair } from '#vpp/binapi/transport/memory.ts';
import { type Logged, recordingLog, settle } from './scripted-vpp.ts';

async function serving(handlers: ServerHandlers): Promise<{
  readonly client: BinapiClient;
  readonly peers: Peer[];
  readonly lines: Logged[];
  readonly closed: Peer[];
}> {
  const peers: Peer[] = [];
  const closed: Peer[] = [];
  const { log, lines } = recordingLog();
  const client = new BinapiClient({
    connect: memoryConnect((transport) => {
      peers.push(serveClient(transport, handlers, { log, onClose: (peer) => closed.push(peer) }));
    }),
    clock: new ManualClock(),
    random: seededRandom(1),
    log,
  });
  client.start();
  await client.whenConnected();
  return { client, peers, lines, closed };
}

test('offers only messages with a handler', async () => {
  const { client } = await serving({
    requests: { acl_del: () => 0 },
    dumps: { acl_dump: () => [] },
  });
  assert.ok(client.has('acl_del') && client.has('acl_dump') && client.has('control_ping'));
  assert.ok(!client.has('acl_add_replace'));
  await assert.rejects(client.request('memif_delete', { sw_if_index: 1 }), UnsupportedMessageError);
  await client.request('control_ping', {});
});

test('a handler returns a retval or a reply, or a promise of one; defaults are filled in', async () => {
  const seen: unknown[] = [];
  const { client } = await serving({
    requests: {
      acl_del: ({ acl_index }) => (acl_index === 1 ? 0 : -6),
      create_loopback: () => ({ sw_if_index: 4 }),
      ip_route_add_del: async ({ is_add }) => {
        seen.push(is_add);
        return { retval: is_add ? 0 : -3, stats_index: 9 };
      },
      tap_create_v3: () => -13,
    },
    dumps: {},
  });
  await client.request('acl_del', { acl_index: 1 });
  await assert.rejects(client.request('acl_del', { acl_index: 2 }), /-6 \(no such entry\)/);
  const loopback = await client.request('create_loopback', { mac_address: new Uint8Array(6) });
  assert.deepEqual(loopback, { retval: 0, sw_if_index: 4 });
  const route = {
    table_id: 0,
    stats_index: 0,
    prefix: { address: { af: 0, un: new Uint8Array(4) }, len: 0 },
    paths: [],
  };
  assert.deepEqual(await client.request('ip_route_add_del', { is_multipath: false, route }), {
    retval: 0,
    stats_index: 9,
  });
  await assert.rejects(
    client.request('ip_route_add_del', { is_add: false, is_multipath: false, route }),
    VppRefusedError,
  );
  assert.deepEqual(seen, [true, false]);
});

test('processes messages one at a time, as VPP does', async () => {
  const order: string[] = [];
  const slow = Promise.withResolvers<void>();
  const { client } = await serving({
    requests: {
      acl_del: async () => {
        order.push('slow begins');
        await slow.promise;
        order.push('slow ends');
        return 0;
      },
      delete_loopback: () => {
        order.push('quick');
        return 0;
      },
    },
    dumps: {},
  });
  const all = [
    client.request('acl_del', { acl_index: 1 }),
    client.request('delete_loopback', { sw_if_index: 1 }),
  ];
  await settle();
  assert.deepEqual(order, ['slow begins']);
  slow.resolve();
  await Promise.all(all);
  assert.deepEqual(order, ['slow begins', 'slow ends', 'quick']);
});

test('a cursor stream of any length is complete', async () => {
  for (const length of [0, 1, 63, 64, 65, 200]) {
    const { client } = await serving({
      requests: {},
      dumps: {
        nat44_ed_output_interface_get: () =>
          Array.from({ length }, (_, sw_if_index) => ({ sw_if_index })),
      },
    });
    const list = await client.dump('nat44_ed_output_interface_get', {});
    assert.deepEqual(
      list.map((details) => details.sw_if_index),
      Array.from({ length }, (_, i) => i),
    );
  }
});

test('sends events to the peer that subscribed', async () => {
  const { client, peers } = await serving({
    requests: {
      want_interface_events: (_, peer) => {
        queueMicrotask(() =>
          peer.sendEvent('sw_interface_event', { pid: 7, sw_if_index: 2, flags: 3, deleted: true }),
        );
        return 0;
      },
    },
    dumps: {},
  });
  const events: unknown[] = [];
  client.onEvent('sw_interface_event', (event) => events.push(event));
  await client.request('want_interface_events', { enable_disable: 1, pid: 7 });
  await settle();
  assert.deepEqual(events, [{ pid: 7, sw_if_index: 2, flags: 3, deleted: true }]);
  assert.equal(peers.length, 1);
});

test('a handler that throws or returns invalid data is logged, and the client gets an answer', async () => {
  const { client, lines } = await serving({
    requests: {
      acl_del: () => {
        throw new Error('bug');
      },
      delete_loopback: async () => {
        throw new Error('late bug');
      },
      create_loopback: () => ({ sw_if_index: -1 }),
    },
    dumps: { acl_dump: () => [{ acl_index: 1 } as never] },
  });
  await assert.rejects(client.request('acl_del', { acl_index: 1 }), VppRefusedError);
  await assert.rejects(client.request('delete_loopback', { sw_if_index: 1 }), VppRefusedError);
  await assert.rejects(
    client.request('create_loopback', { mac_address: new Uint8Array(6) }),
    VppRefusedError,
  );
  assert.deepEqual(await client.dump('acl_dump', { acl_index: 0 }), []);
  const failures = lines.filter((line) => line.text === 'handler failed');
  assert.deepEqual(
    failures.map((line) => line.fields['message']),
    ['acl_del', 'delete_loopback', 'create_loopback', 'acl_dump'],
  );
});

test('closes the connection, and notices when the client closes it', async () => {
  const { client, peers, closed } = await serving({
    requests: { acl_del: () => new Promise(() => undefined) },
    dumps: {},
  });
  const request = client.request('acl_del', { acl_index: 1 });
  await settle();
  peers[0]?.close();
  await assert.rejects(request, VppDisconnectedError);
  await client.close();
  await settle();
  assert.ok(closed.length <= 1);
  const other = await serving({ requests: {}, dumps: {} });
  await other.client.close();
  await settle();
  assert.deepEqual(other.closed, other.peers);
});

test('random bytes from a client are dropped or close its connection', () => {
  const { log } = recordingLog();
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 100 })), (parts) => {
      const [, server] = memoryPair();
      serveClient(server, { requests: { acl_del: () => 0 }, dumps: {} }, { log });
      for (const part of parts) {
        server.onData(part);
        const frame = Buffer.concat([Buffer.alloc(16), part]);
        frame.writeUInt32BE(part.length, 8);
        server.onData(frame);
      }
    }),
  );
});

test('a message of another CRC is not offered', async () => {
  const { Catalog } = await import('#vpp/binapi/catalog.ts');
  const { bundledDefinitions } = await import('#vpp/binapi/bundled-definitions.ts');
  const changed = new Catalog({
    ...bundledDefinitions,
    messages: bundledDefinitions.messages.map((message) =>
      message[0] === 'acl_del'
        ? ([...message.slice(0, -1), { crc: '0x12345678' }] as unknown as typeof message)
        : message,
    ),
  });
  assert.equal(bundledCatalog().codec('acl_del').crc, 'ef34fea4');
  const { log, lines } = recordingLog();
  const handlers = { requests: { acl_del: () => 0, acl_add_replace: () => 0 }, dumps: {} };
  const client = new BinapiClient({
    connect: memoryConnect((transport) => {
      serveClient(transport, handlers, { log, catalog: changed });
    }),
    clock: new ManualClock(),
    random: seededRandom(1),
    log,
  });
  client.start();
  await client.whenConnected();
  assert.ok(!client.has('acl_del') && client.has('acl_add_replace'));
  const report = lines.find((line) => line.text.includes('does not support'));
  assert.ok(report && (report.fields['missing'] as string[]).includes('acl_del_ef34fea4'));
});
