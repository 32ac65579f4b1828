/** Reports of the kernel about conversations of datagrams, in network namespaces of the test. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '#infra/clock/system.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import type {
  ConnectionEvent,
  EndedConnection,
  FlowSource,
  OngoingConnection,
} from '#linux/socket-flows/api.ts';
import { openFlowSource } from '#linux/socket-flows/open.ts';
import { withoutSocketHooks } from '#test/support/requirements.ts';
import { SysFs } from '../../support/sys-fs.ts';
import { SocketClient } from '../socket-services/machine.ts';

const SERVER = { address: '10.1.1.1', port: 8080 };
const SERVER6 = { address: 'fd00::1', port: 8080 };
const LOST = { address: '10.9.0.2', port: 53 };

describe('datagrams of the kernel', { skip: withoutSocketHooks() }, () => {
  let sysFs: SysFs;
  let client: SocketClient;
  let source: FlowSource;
  const host = kernelHost({ clock: systemClock });

  const open = async (): Promise<FlowSource> =>
    openFlowSource(sysFs.path, {
      hostNamespace: await host.namespaceCookie(undefined),
      connections: host,
      clock: systemClock,
    });

  before(async () => {
    sysFs = new SysFs();
    client = await SocketClient.start(sysFs.group);
    await client.addAddress('10.1.1.1/32');
    await client.addAddress('fd00::1/128');
    await client.serve(SERVER, SERVER6, { address: '127.0.0.1', port: 8080 });
    await client.addLossyLink('10.9.0.1/24', '10.9.0.2');
  });
  after(async () => {
    await client.close();
    sysFs[Symbol.dispose]();
  });
  // each test has conversations of its own
  beforeEach(async () => {
    source?.remove();
    source = await open();
  });
  after(() => source?.remove());

  function read(from = source): ConnectionEvent[] {
    const found: ConnectionEvent[] = [];
    while (from.read((event) => found.push(event), 1000));
    return found;
  }

  async function measured(from = source): Promise<OngoingConnection[]> {
    const found: (OngoingConnection | EndedConnection)[] = [];
    await from.measure((one) => found.push(one));
    return found.filter((one) => one.kind === 'goes-on');
  }

  const send = (socket: string, to: { address: string; port: number }) =>
    client.request({ kind: 'send', socket, to, family: to.address.includes(':') ? 6 : 4 });
  const sendConnected = (socket: string, to: { address: string; port: number }) =>
    client.request({ kind: 'send-connected', socket, to });

  let sockets = 0;
  const newSocket = (): string => `socket-${++sockets}`;

  for (const to of [SERVER, SERVER6])
    for (const ask of [send, sendConnected])
      test(`both ends of a conversation with ${to.address} (${ask.name})`, async () => {
        const from = systemClock.now();
        const socket = newSocket();
        for (let i = 0; i < 3; i++) assert.ok((await ask(socket, to)).server, 'no answer');
        const found = read();
        assert.deepEqual(found.map(({ kind, side }) => `${side} ${kind}`).sort(), [
          'client begun',
          'client opened',
          'server begun',
          'server opened',
        ]);
        for (const { protocol, side, local, remote, isOfHost, begun, time } of found) {
          assert.equal(protocol, 'UDP');
          assert.deepEqual(side === 'client' ? remote : local, to);
          assert.equal((side === 'client' ? local : remote).address, to.address);
          assert.ok(isOfHost !== true);
          assert.ok(begun >= from - 50 && time >= begun, `${begun} ${time}`);
        }
        assert.equal(new Set(found.map(({ id }) => id)).size, 2);
        const length = `${to.address} 8080`.length;
        const ongoing = await measured();
        assert.equal(ongoing.length, 2);
        for (const { id, side, sent, received, datagrams, isAnswered } of ongoing) {
          assert.ok(found.some((event) => event.id === id && event.side === side));
          assert.ok(isAnswered);
          const bytes = side === 'client' ? [3, 3 * length] : [3 * length, 3];
          assert.deepEqual([sent, received], bytes);
          const isClient = side === 'client';
          assert.deepEqual(datagrams, { sent: 3, received: 3, sockets: isClient ? 1 : 0 });
        }
      });

  test('many sockets are one conversation, with their number', async () => {
    for (let i = 0; i < 20; i++) {
      await send(newSocket(), SERVER);
      await sendConnected(newSocket(), SERVER);
    }
    assert.equal(read().length, 4);
    const ongoing = await measured();
    const { datagrams } = ongoing.find(({ side }) => side === 'client')!;
    assert.deepEqual(datagrams, { sent: 40, received: 40, sockets: 40 });
  });

  test('a server that does not answer', async () => {
    await send(newSocket(), LOST);
    const [only, ...others] = read();
    assert.deepEqual(others, []);
    assert.equal(only?.kind, 'begun');
    assert.deepEqual(only?.remote, LOST);
    const [ongoing] = await measured();
    assert.equal(ongoing?.isAnswered, false);
  });

  test('nothing of loopback addresses, nor to groups of hosts', async () => {
    await send(newSocket(), { address: '127.0.0.1', port: 8080 });
    await send(newSocket(), { address: '::1', port: 8080 });
    await send(newSocket(), { address: '224.0.0.251', port: 5353 });
    assert.deepEqual(read(), []);
  });

  test('the next agent continues to read and to measure', async () => {
    const socket = newSocket();
    await send(socket, SERVER);
    const next = await open();
    assert.equal(read(next).length, 4);
    await send(socket, SERVER);
    assert.deepEqual(read(next), []);
    assert.deepEqual(
      (await measured(next)).map(({ datagrams }) => datagrams?.sent),
      [2, 2],
    );
  });

  test('a server that stops to answer: the conversation ends, and the next one has no answer', async () => {
    const [command, ...args] = ['nsenter', `--net=${client.namespace}`, 'python3', '-c', STOPS];
    const sender = spawn(command!, [...args, sysFs.group], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(sender, 'exit');
    const found = read().filter(({ side }) => side === 'client');
    assert.deepEqual(
      found.map(({ kind }) => kind),
      ['begun', 'opened', 'ended', 'begun'],
    );
    const [first, , end, next] = found;
    assert.equal(first?.id, end?.id);
    assert.notEqual(first?.id, next?.id);
    assert.ok(end?.kind === 'ended' && end.outcome === 'closed');
    assert.equal(end.datagrams?.received, 1);
    assert.ok(end.datagrams.sent >= 10, `${end.datagrams.sent}`);
  });

  test('programs need no right but CAP_BPF and CAP_NET_ADMIN', () => {
    source.remove();
    // of root: it owns the files
    const rights = '-all,+bpf,+net_admin,+dac_override';
    const program = ['--input-type=module', '-e', OPENS, sysFs.path];
    const found = execFileSync(
      'setpriv',
      ['--bounding-set', rights, process.execPath, ...program],
      { encoding: 'utf8', cwd: join(import.meta.dirname, '../../../..') },
    );
    assert.equal(found, '[]\n');
  });

  test('random datagrams are counted as a model of the programs does', async () => {
    await client.addAddress('10.1.1.2/32');
    const end = fc.nat({ max: ends.length - 1 });
    const datagram = fc.tuple(end, end, fc.integer({ min: 1, max: 1_400 }));
    await fc.assert(
      fc.asyncProperty(fc.array(datagram, { minLength: 1, maxLength: 60 }), async (all) => {
        const sent = all.filter(
          ([from, to]) =>
            from !== to && ends[from]!.address.includes(':') === ends[to]!.address.includes(':'),
        );
        source.remove();
        source = await open();
        execFileSync(
          'nsenter',
          [
            `--net=${client.namespace}`,
            ...['python3', '-c', SENDS, sysFs.group, JSON.stringify(ends), JSON.stringify(sent)],
          ],
          { stdio: 'pipe' },
        );
        const model = modelled(sent);
        const found = await measured();
        const nameOfSide = ({ side, local, remote }: OngoingConnection) => {
          const [one, server] = side === 'client' ? [local, remote] : [remote, local];
          return `${side} ${one.address} ${server.address} ${server.port}`;
        };
        assert.deepEqual(
          Object.fromEntries(
            found.map((one) => {
              const { sent: own, received: other, datagrams } = one;
              const counts = { packets: datagrams!.sent, bytes: own };
              const others = { packets: datagrams!.received, bytes: other };
              const [byClient, byServer] =
                one.side === 'client' ? [counts, others] : [others, counts];
              return [nameOfSide(one), { byClient, byServer, sockets: datagrams!.sockets }];
            }),
          ),
          Object.fromEntries(
            [...model].map(([name, { byClient, byServer, sockets }]) => [
              name,
              { byClient, byServer, sockets },
            ]),
          ),
        );
        const events = read();
        const answered = [...model.values()].filter(({ byServer }) => byServer.packets > 0);
        assert.equal(events.filter(({ kind }) => kind === 'begun').length, model.size);
        assert.equal(events.filter(({ kind }) => kind === 'opened').length, answered.length);
      }),
      { numRuns: 8 },
    );
  });

  test('datagrams that the kernel cuts from one send are counted', async () => {
    execFileSync('nsenter', [`--net=${client.namespace}`, 'python3', '-c', SEGMENTS, sysFs.group], {
      stdio: 'pipe',
    });
    const one = (await measured()).find(({ side }) => side === 'client');
    assert.deepEqual([one?.sent, one?.datagrams?.sent], [4000, 4]);
  });
});

const ends = [
  { address: '10.1.1.1', port: 7_001 },
  { address: '10.1.1.1', port: 7_002 },
  { address: '10.1.1.1', port: 7_003 },
  { address: '10.1.1.2', port: 7_001 },
  { address: '10.1.1.2', port: 7_002 },
  { address: 'fd00::1', port: 7_001 },
  { address: 'fd00::1', port: 7_002 },
] as const;

interface Modelled {
  readonly byClient: { packets: number; bytes: number };
  readonly byServer: { packets: number; bytes: number };
  sockets: number;
  lastPort: number;
}

/** Conversations by side, client, server and port, of datagrams that arrive one after the other. */
function modelled(
  sent: readonly (readonly [from: number, to: number, bytes: number])[],
): ReadonlyMap<string, Modelled> {
  const all = new Map<string, Modelled>();
  /** Of a socket: the conversation that has counted it last. */
  const counted = new Map<number, Modelled>();
  for (const [from, to, bytes] of sent) {
    const [a, b] = [ends[from]!, ends[to]!];
    const request = `${a.address} ${b.address} ${b.port}`;
    const answer = `${b.address} ${a.address} ${a.port}`;
    for (const [side, other] of [
      ['client', 'server'],
      ['server', 'client'],
    ] as const) {
      const asked = all.get(`${side} ${request}`);
      const replied = asked ? undefined : all.get(`${other} ${answer}`);
      const one = asked ??
        replied ?? {
          byClient: { packets: 0, bytes: 0 },
          byServer: { packets: 0, bytes: 0 },
          sockets: 0,
          lastPort: 0,
        };
      if (!asked && !replied) all.set(`${side} ${request}`, one);
      const counter = replied ? one.byServer : one.byClient;
      counter.packets++;
      counter.bytes += bytes;
      if (replied || side === 'server' || one.lastPort === a.port) continue;
      one.lastPort = a.port;
      if (counted.get(from) !== one) one.sockets++;
      counted.set(from, one);
    }
  }
  return all;
}

const OPENS = `
import { systemClock } from '#infra/clock/system.ts';
import { openFlowSource } from '#linux/socket-flows/open.ts';
const source = openFlowSource(process.argv[1], {
  hostNamespace: undefined, connections: undefined, clock: systemClock,
});
console.log(JSON.stringify(source.lostParts()));
source.remove();
process.exit();
`;

/** Each datagram arrives before the next one is sent. */
const SENDS = `
import json, os, socket, sys
open(sys.argv[1] + '/cgroup.procs', 'w').write(str(os.getpid()))
sockets = []
ends = json.loads(sys.argv[2])
for end in ends:
  one = socket.socket(socket.AF_INET6 if ':' in end['address'] else socket.AF_INET, socket.SOCK_DGRAM)
  one.bind((end['address'], end['port'])); sockets.append(one)
for a, b, length in json.loads(sys.argv[3]):
  sockets[a].sendto(b'x' * length, (ends[b]['address'], ends[b]['port'])); sockets[b].recv(2000)
`;

/** One answer, then none, for some longer than 10 s. */
const STOPS = `
import os, socket, sys, time
open(sys.argv[1] + '/cgroup.procs', 'w').write(str(os.getpid()))
server = socket.socket(type=socket.SOCK_DGRAM); server.bind(('10.1.1.1', 0))
client = socket.socket(type=socket.SOCK_DGRAM)
client.sendto(b'x', server.getsockname())
_, other = server.recvfrom(10); server.sendto(b'y', other)
for _ in range(24): client.sendto(b'x', server.getsockname()); time.sleep(0.5)
`;

/** UDP_SEGMENT */
const SEGMENTS = `
import os, socket, sys
open(sys.argv[1] + '/cgroup.procs', 'w').write(str(os.getpid()))
server = socket.socket(type=socket.SOCK_DGRAM); server.bind(('10.1.1.1', 0))
client = socket.socket(type=socket.SOCK_DGRAM); client.setsockopt(17, 103, 1000)
client.sendto(b'x' * 4000, server.getsockname())
`;
