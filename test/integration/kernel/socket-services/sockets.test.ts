/** Services at real sockets, beside the suite of all tables: addresses that processes see, and changes under load. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { LinuxError } from '#linux/api.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import type { SocketMapping, SocketProtocol, SocketTable } from '#linux/socket-services/api.ts';
import { removeSocketTable } from '#linux/socket-services/open.ts';
import { withoutSocketHooks } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import type { Answer, Place } from './client.ts';
import { type SocketClient, SocketMachine } from './machine.ts';

const PORT = 80;
const text = ({ address, port }: Place): string => `${address} ${port}`;
const ipv4 = { vip: '10.96.0.10', backends: ['127.0.0.2', '127.0.0.3', '127.0.0.4'] };
const place = (address: string): Place => ({ address, port: 8080 });

function mapping(vip: string, backends: readonly Place[]): SocketMapping {
  const protocols: readonly SocketProtocol[] = ['TCP', 'UDP'];
  return {
    frontends: protocols.map((protocol) => ({
      address: vip,
      port: PORT,
      protocol,
      scope: 'ADDRESS',
    })),
    backends: backends.map((one) => ({ ...one, weight: 1 })),
    affinityTimeout: 0,
    hostSource: '',
  };
}

describe('services at sockets', { skip: withoutSocketHooks() }, () => {
  let machine: SocketMachine;
  let table: SocketTable;
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

  const sendConnected = (address: string, socket: string, port = PORT): Promise<Answer> =>
    client.request({ kind: 'send-connected', socket, to: { address, port } });

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
    assert.equal((await sendConnected(ipv4.vip, 'connected')).peer, peer);
    assert.equal((await sendTo(ipv4.vip, 'a')).peer, peer);
  });

  test('one socket asks two services with the same backend, and each answer comes from the one that it asked', async () => {
    await put(mapping(ipv4.vip, [place('127.0.0.2')]), mapping('10.96.0.11', [place('127.0.0.2')]));
    for (const vip of [ipv4.vip, '10.96.0.11', ipv4.vip, '10.96.0.11'])
      assert.equal((await sendTo(vip, 'of two services')).peer, `${vip} ${PORT}`);
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

  test('a process of the host gets the source of the mapping, unless it has chosen one; other namespaces do not', async () => {
    const another = new SocketMachine();
    try {
      const [host, pod] = [await another.client(), await another.client()];
      const sources = ['172.16.0.1', 'fd16::1'] as const;
      for (const one of [host, pod]) {
        for (const source of sources) await one.addAddress(source);
        await one.serve(place('127.0.0.2'), { address: '::1', port: 8081 });
      }
      const cookie = await kernelHost({ clock: systemClock }).namespaceCookie(host.namespace);
      const mappings = [
        { ...mapping(ipv4.vip, [place('127.0.0.2')]), hostSource: sources[0] },
        { ...mapping('fd96::10', [{ address: '::1', port: 8081 }]), hostSource: sources[1] },
        mapping('10.96.0.11', [place('127.0.0.2')]),
        { ...mapping('10.96.0.12', [place('127.0.0.2')]), hostSource: '172.16.0.77' },
      ];
      const own = another.table({}, cookie);
      await own.put({ name: 'default/web', mappings });
      const sourceOf = async (address: string, from?: string) => {
        const to = { address, port: PORT };
        return (await host.request({ kind: 'source', to, ...(from && { from }) })).source;
      };
      assert.equal(await sourceOf(ipv4.vip), '172.16.0.1');
      assert.equal(await sourceOf('fd96::10'), 'fd16::1');
      assert.equal(await sourceOf('10.96.0.11'), '127.0.0.1', 'none in the mapping');
      assert.equal(await sourceOf('10.96.0.12'), '127.0.0.1', 'an address that the host has lost');
      const lost = {
        kind: 'send',
        socket: 'lost',
        to: { address: '10.96.0.12', port: PORT },
      } as const;
      assert.equal((await host.request({ ...lost, family: 4 })).error, 'ENETUNREACH');
      assert.equal(await sourceOf(`::ffff:${ipv4.vip}`), '::ffff:172.16.0.1');
      assert.equal(await sourceOf(ipv4.vip, '127.0.0.9'), '127.0.0.9');
      const to = { address: ipv4.vip, port: PORT };
      assert.equal((await pod.request({ kind: 'source', to })).source, '127.0.0.1');
    } finally {
      await another.close();
    }
  });

  test('a connection to the backend itself sees the backend', async () => {
    await put(mapping(ipv4.vip, [place('127.0.0.2')]));
    assert.equal((await connectTo(ipv4.vip)).peer, `${ipv4.vip} ${PORT}`);
    const direct = await client.request({ kind: 'connect', to: place('127.0.0.2') });
    assert.deepEqual(direct, { server: '127.0.0.2 8080', peer: '127.0.0.2 8080' });
  });

  test('a connected socket of datagrams ends with its backend, those of others stay', async () => {
    const [first, second] = ipv4.backends.map(place);
    for (const [vip, backend] of [
      [ipv4.vip, first],
      ['fd96::10', { address: '::1', port: 8081 }],
    ] as const) {
      const other = vip === ipv4.vip ? second! : { address: '::1', port: 8082 };
      await put(mapping(vip, [backend!]));
      await table.put({
        name: 'default/other',
        mappings: [mapping(vip === ipv4.vip ? '10.96.0.99' : 'fd96::99', [backend!])],
      });
      const served = text(backend!);
      assert.equal((await sendConnected(vip, `to ${vip}`)).server, served);
      assert.equal(
        (await sendConnected(backend!.address, `direct ${vip}`, backend!.port)).server,
        served,
      );
      assert.equal(
        (await sendConnected(vip === ipv4.vip ? '10.96.0.99' : 'fd96::99', `other ${vip}`)).server,
        served,
      );
      await put(mapping(vip, [other]));
      await until('the process reaches the other backend', async () => {
        const { server } = await sendConnected(vip, `to ${vip}`);
        return server === text(other);
      });
      assert.equal(
        (await sendConnected(backend!.address, `direct ${vip}`, backend!.port)).server,
        served,
      );
      assert.equal((await sendConnected('', `other ${vip}`)).server, served);
    }
    // backends that go while no agent runs: the first resync of the next one ends their sockets
    await put(mapping(ipv4.vip, [first!]));
    assert.equal((await sendConnected(ipv4.vip, 'late')).server, text(first!));
    table = machine.table({ namespaces: async () => [] });
    await put(mapping(ipv4.vip, [second!]));
    table = machine.table();
    await table.services();
    await table.resynced();
    await until('the process reaches the other backend', async () => {
      const { server } = await sendConnected(ipv4.vip, 'late');
      return server === text(second!);
    });
    // that of `default/other` of IPv4, whose address was deleted, ends some time after the change
    await until(
      'the sockets of `late` and of the other service of IPv6 are left',
      async () => (await machine.files.connections()) === 2,
    );
    await table.delete('default/other');
  });

  test('a connected socket of datagrams that the kernel does not end is ended later', async () => {
    const [first, second] = ipv4.backends.map(place);
    let refusals = 2;
    const kernel = kernelHost({ clock: systemClock });
    table = machine.table({
      endDatagramSocket: async (namespace, socket) => {
        if (refusals-- > 0) throw new LinuxError('refused', { where: 'socket', errno: 'ENOMEM' });
        await kernel.endDatagramSocket(namespace, socket);
      },
    });
    await put(mapping(ipv4.vip, [first!]));
    assert.equal((await sendConnected(ipv4.vip, 'refused')).server, text(first!));
    await put(mapping(ipv4.vip, [second!]));
    await until('the process reaches the other backend', async () => {
      const { server } = await sendConnected(ipv4.vip, 'refused');
      return server === text(second!);
    });
    assert.equal(table.statistics().failedEnds, 2);
  });

  test('a node port has the address of the node that the process has asked', async () => {
    const node = '172.16.0.2';
    const nodePort = (backend: Place): SocketMapping => {
      const { frontends, ...others } = mapping('0.0.0.0', [backend]);
      return { ...others, frontends: frontends.map((one) => ({ ...one, scope: 'OTHER_NODES' })) };
    };
    await table.putNodeAddress({ address: node, isLocal: false });
    await put(nodePort(place('127.0.0.2')));
    const answer = { server: '127.0.0.2 8080', peer: `${node} ${PORT}` };
    assert.deepEqual(await connectTo(node), answer);
    assert.deepEqual(await connectTo(`::ffff:${node}`), {
      ...answer,
      peer: `::ffff:${node} ${PORT}`,
    });
    assert.deepEqual(await sendTo(node, 'of a node'), answer);
    assert.deepEqual(await sendConnected(node, 'connected to a node'), answer);
    // the socket is connected again when its backend goes, and not translated when the node has left
    await put(nodePort(place('127.0.0.3')));
    await until('the process reaches the other backend', async () => {
      const { server } = await sendConnected(node, 'connected to a node');
      return server === '127.0.0.3 8080';
    });
    await table.deleteNodeAddress(node);
    await until('the process has no connection', async () => {
      const { error } = await sendConnected(node, 'connected to a node');
      return error === 'ENETUNREACH';
    });
    assert.deepEqual(await connectTo(node), { error: 'ENETUNREACH' });
  });

  test('continues without an agent, and the next one takes over without a write', async () => {
    await put(mapping(ipv4.vip, [place('127.0.0.3')]), mapping('10.96.0.11', []));
    const before = await table.services();
    table = machine.table();
    assert.deepEqual(await table.services(), before);
    assert.equal((await connectTo(ipv4.vip)).server, '127.0.0.3 8080');
    assert.deepEqual(await connectTo('10.96.0.11'), { error: 'ECONNREFUSED' });
  });

  test('a control group of any name is one of those that are served', async () => {
    const group = join(machine.group, 'unified');
    mkdirSync(group);
    table = machine.table();
    assert.equal((await connectTo(ipv4.vip)).server, '127.0.0.3 8080');
    rmdirSync(group);
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

  test('an agent that cannot take over removes what would translate to backends of the past', async () => {
    await put(mapping(ipv4.vip, [place('127.0.0.3')]));
    assert.equal((await connectTo(ipv4.vip)).server, '127.0.0.3 8080');
    machine.files.spoilLink();
    const files = readdirSync('/proc/self/fd').length;
    assert.throws(() => machine.table(), { code: 'CV_SOCKET_SERVICES_UNAVAILABLE' });
    assert.equal(readdirSync('/proc/self/fd').length, files);
    assert.deepEqual(await connectTo(ipv4.vip), { error: 'ENETUNREACH' });
    table = machine.table();
    assert.deepEqual(await table.services(), []);
    await put(mapping(ipv4.vip, [place('127.0.0.3')]));
    assert.equal((await connectTo(ipv4.vip)).server, '127.0.0.3 8080');
  });

  test('after the removal of the programs addresses are those of the kernel', async () => {
    removeSocketTable(machine.sysFs);
    removeSocketTable(machine.sysFs);
    // loopback has no other network
    assert.deepEqual(await connectTo('10.96.0.10'), { error: 'ENETUNREACH' });
    table = machine.table();
    assert.deepEqual(await table.services(), []);
  });
});
