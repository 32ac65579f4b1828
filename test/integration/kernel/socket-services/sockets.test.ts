/** Services at real sockets: what processes see, and what a kernel keeps while the agent ends, returns and changes. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { SocketProtocol } from '#linux/socket-services/address.ts';
import type { SocketMapping } from '#linux/socket-services/api.ts';
import { uninstall } from '#linux/socket-services/installation.ts';
import type { KernelSocketTable } from '#linux/socket-services/kernel-table.ts';
import { withoutSocketHooks } from '#test/support/requirements.ts';
import type { Answer, Place } from './client.ts';
import { type SocketClient, SocketMachine } from './machine.ts';

const PORT = 80;
const text = ({ address, port }: Place): string => `${address} ${port}`;
const ipv4 = { vip: '10.96.0.10', backends: ['127.0.0.2', '127.0.0.3', '127.0.0.4'] };
const place = (address: string): Place => ({ address, port: 8080 });

function mapping(
  vip: string,
  backends: readonly Place[],
  { affinityTimeout = 0 } = {},
): SocketMapping {
  const protocols: readonly SocketProtocol[] = ['TCP', 'UDP'];
  return {
    frontends: protocols.map((protocol) => ({ address: vip, port: PORT, protocol })),
    backends: backends.map((one) => ({ ...one, weight: 1 })),
    affinityTimeout,
  };
}

describe('services at sockets', { skip: withoutSocketHooks() }, () => {
  let machine: SocketMachine;
  let table: KernelSocketTable;
  let client: SocketClient;

  before(async () => {
    machine = new SocketMachine();
    table = machine.table();
    client = await machine.client();
    await client.serve(...ipv4.backends.map(place));
    await client.serve({ address: '::1', port: 8081 }, { address: '::1', port: 8082 });
  });
  after(async () => {
    await machine.close();
  });

  const connectTo = (address: string, from = client): Promise<Answer> =>
    from.request({ kind: 'connect', to: { address, port: PORT } });
  const sendTo = (address: string, socket: string, family: 4 | 6 = 4): Promise<Answer> =>
    client.request({ kind: 'send', socket, to: { address, port: PORT }, family });

  async function put(...mappings: readonly SocketMapping[]): Promise<void> {
    await table.put({ name: 'default/web', mappings });
  }

  test('a stream reaches a backend, and sees the address of the service', async () => {
    await put(mapping(ipv4.vip, ipv4.backends.map(place)));
    const servers = new Set<string>();
    for (let round = 0; round < 60; round++) {
      const { server, peer } = await connectTo(ipv4.vip);
      assert.equal(peer, `${ipv4.vip} ${PORT}`);
      servers.add(server!);
    }
    assert.deepEqual([...servers].sort(), ipv4.backends.map((one) => text(place(one))).sort());
  });

  test('so do a connected socket of datagrams, and one that is not', async () => {
    const peer = `${ipv4.vip} ${PORT}`;
    const connected = await client.request({
      kind: 'send-connected',
      to: { address: ipv4.vip, port: PORT },
    });
    assert.equal(connected.peer, peer);
    assert.equal((await sendTo(ipv4.vip, 'a')).peer, peer);
  });

  test('and sockets of IPv6, with addresses of both families', async () => {
    await table.put({
      name: 'default/six',
      mappings: [mapping('fd96::10', [{ address: '::1', port: 8081 }])],
    });
    assert.deepEqual(await connectTo('fd96::10'), { server: '::1 8081', peer: 'fd96::10 80' });
    assert.deepEqual(await sendTo('fd96::10', 'six', 6), {
      server: '::1 8081',
      peer: 'fd96::10 80',
    });
    const mapped = await connectTo(`::ffff:${ipv4.vip}`);
    assert.equal(mapped.peer, `::ffff:${ipv4.vip} ${PORT}`);
    assert.ok(mapped.server);
    await table.delete('default/six');
  });

  test('datagrams of a socket stay with their backend until it goes', async () => {
    const { server: first } = await sendTo(ipv4.vip, 'b');
    for (let round = 0; round < 20; round++)
      assert.equal((await sendTo(ipv4.vip, 'b')).server, first);
    const others = ipv4.backends.map(place).filter((one) => text(one) !== first);
    await put(mapping(ipv4.vip, others));
    const { server: next, peer } = await sendTo(ipv4.vip, 'b');
    assert.equal(peer, `${ipv4.vip} ${PORT}`);
    assert.ok(others.map(text).includes(next!), next);
    await put(mapping(ipv4.vip, ipv4.backends.map(place)));
    assert.equal((await sendTo(ipv4.vip, 'b')).server, next);
  });

  test('without backends clients are refused at once', async () => {
    await put(mapping(ipv4.vip, []));
    assert.deepEqual(await connectTo(ipv4.vip), { error: 'ECONNREFUSED' });
    assert.deepEqual(await sendTo(ipv4.vip, 'c'), { error: 'ECONNREFUSED' });
    await put(mapping(ipv4.vip, ipv4.backends.map(place)));
    assert.ok((await connectTo(ipv4.vip)).server);
  });

  test('with affinity a namespace reaches one backend, while the others change', async () => {
    const three = ipv4.backends.map(place);
    await put(mapping(ipv4.vip, three, { affinityTimeout: 3600 }));
    const { server: first } = await connectTo(ipv4.vip);
    for (let round = 0; round < 20; round++)
      assert.equal((await connectTo(ipv4.vip)).server, first);
    for (const gone of three.filter((one) => text(one) !== first)) {
      await put(
        mapping(
          ipv4.vip,
          three.filter((one) => one !== gone),
          { affinityTimeout: 3600 },
        ),
      );
      assert.equal((await connectTo(ipv4.vip)).server, first);
    }
    await put(
      mapping(
        ipv4.vip,
        three.filter((one) => text(one) !== first),
        { affinityTimeout: 3600 },
      ),
    );
    const { server: second } = await connectTo(ipv4.vip);
    assert.notEqual(second, first);
    await put(mapping(ipv4.vip, three, { affinityTimeout: 3600 }));
    assert.equal((await connectTo(ipv4.vip)).server, second);
  });

  test('each namespace has an affinity of its own, and loses it with time', async () => {
    const other = await machine.client();
    const three = ipv4.backends.map(place);
    await other.serve(...three);
    await put(mapping(ipv4.vip, three, { affinityTimeout: 1 }));
    const servers = new Set<string>();
    // one server 20 times: 3^-19
    for (let round = 0; round < 20; round++) {
      const { server } = await connectTo(ipv4.vip, other);
      servers.add(server!);
      await new Promise((resolve) => setTimeout(resolve, 1100));
      if (servers.size > 1) break;
    }
    assert.ok(servers.size > 1);
  });

  test('a connection to the backend itself sees the backend', async () => {
    await put(mapping(ipv4.vip, [place('127.0.0.2')]));
    assert.equal((await connectTo(ipv4.vip)).peer, `${ipv4.vip} ${PORT}`);
    const direct = await client.request({ kind: 'connect', to: place('127.0.0.2') });
    assert.deepEqual(direct, { server: '127.0.0.2 8080', peer: '127.0.0.2 8080' });
  });

  test('continues without an agent, and the next one takes over without a write', async () => {
    await put(mapping(ipv4.vip, [place('127.0.0.3')]), mapping('10.96.0.11', []));
    const before = await table.services();
    table = machine.table();
    assert.deepEqual(await table.services(), before);
    assert.equal((await connectTo(ipv4.vip)).server, '127.0.0.3 8080');
    assert.deepEqual(await connectTo('10.96.0.11'), { error: 'ECONNREFUSED' });
  });

  test('connections survive programs that are replaced all the time', async () => {
    let isOver = false;
    const replace = (async () => {
      while (!isOver) {
        table = machine.table();
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    for (let round = 0; round < 300; round++)
      assert.equal((await connectTo(ipv4.vip)).server, '127.0.0.3 8080');
    isOver = true;
    await replace;
  });

  test('no connection is refused or lost while backends come and go', async () => {
    const three = ipv4.backends.map(place);
    let isOver = false;
    let changes = 0;
    const change = (async () => {
      for (; !isOver; changes++) {
        const kept = three.filter((_one, at) => at === 0 || (changes >> at) % 2 === 0);
        await put(mapping(ipv4.vip, changes % 3 === 0 ? kept.toReversed() : kept));
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let round = 0; round < 300; round++) assert.ok((await connectTo(ipv4.vip)).server);
    isOver = true;
    await change;
    assert.ok(changes > 300, `${changes} changes`);
  });

  test('after the removal of the programs addresses are those of the kernel', async () => {
    uninstall(machine.folder);
    // loopback has no other network
    assert.deepEqual(await connectTo('10.96.0.10'), { error: 'ENETUNREACH' });
    table = machine.table();
    assert.deepEqual(await table.services(), []);
  });
});
