/** Reports of the kernel about conversations of datagrams, in network namespaces of the test. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '#infra/clock/system.ts';
import type { FlowSource, OngoingConnection } from '#linux/socket-flows/api.ts';
import { withoutSocketHooks } from '#test/support/requirements.ts';
import { FlowMachine, LOST, measured, read, SERVER, SERVER6 } from './flow-machine.ts';

const SILENT = { address: LOST, port: 53 };

describe('datagrams of the kernel', { skip: withoutSocketHooks() }, () => {
  let machine: FlowMachine;
  let source: FlowSource;

  before(async () => {
    machine = await FlowMachine.start();
  });
  after(() => machine.close());
  // each test has conversations of its own
  beforeEach(async () => {
    source?.remove();
    source = await machine.open();
  });
  after(() => source?.remove());

  const send = (socket: string, to: { address: string; port: number }) =>
    machine.client.request({ kind: 'send', socket, to, family: to.address.includes(':') ? 6 : 4 });
  const sendConnected = (socket: string, to: { address: string; port: number }) =>
    machine.client.request({ kind: 'send-connected', socket, to });

  let sockets = 0;
  const newSocket = (): string => `socket-${++sockets}`;

  for (const to of [SERVER, SERVER6])
    for (const ask of [send, sendConnected])
      test(`both ends of a conversation with ${to.address} (${ask.name})`, async () => {
        const from = systemClock.now();
        const socket = newSocket();
        for (let i = 0; i < 3; i++) assert.ok((await ask(socket, to)).server, 'no answer');
        const found = read(source);
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
        const ongoing = await measured(source);
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
    assert.equal(read(source).length, 4);
    const ongoing = await measured(source);
    const { datagrams } = ongoing.find(({ side }) => side === 'client')!;
    assert.deepEqual(datagrams, { sent: 40, received: 40, sockets: 40 });
  });

  test('a server that does not answer', async () => {
    await send(newSocket(), SILENT);
    const [only, ...others] = read(source);
    assert.deepEqual(others, []);
    assert.equal(only?.kind, 'begun');
    assert.deepEqual(only?.remote, SILENT);
    const [ongoing] = await measured(source);
    assert.equal(ongoing?.isAnswered, false);
  });

  test('nothing of loopback addresses, nor to groups of hosts', async () => {
    await send(newSocket(), { address: '127.0.0.1', port: 8080 });
    await send(newSocket(), { address: '::1', port: 8080 });
    await send(newSocket(), { address: '224.0.0.251', port: 5353 });
    assert.deepEqual(read(source), []);
  });

  test('the next agent continues to read and to measure', async () => {
    const socket = newSocket();
    await send(socket, SERVER);
    const next = await machine.open();
    assert.equal(read(next).length, 4);
    await send(socket, SERVER);
    assert.deepEqual(read(next), []);
    assert.deepEqual(
      (await measured(next)).map(({ datagrams }) => datagrams?.sent),
      [2, 2],
    );
  });

  test('a server that stops to answer: the conversation ends, and the next one has no answer', async () => {
    const sender = machine.spawn(STOPS);
    await once(sender, 'exit');
    const found = read(source).filter(({ side }) => side === 'client');
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
    const program = ['--input-type=module', '-e', OPENS, machine.sysFs.path];
    const found = execFileSync(
      'setpriv',
      ['--bounding-set', rights, process.execPath, ...program],
      { encoding: 'utf8', cwd: join(import.meta.dirname, '../../../..') },
    );
    assert.equal(found, '[]\n');
  });

  test('random datagrams are counted as a model of the programs does', async () => {
    await machine.client.addAddress('10.1.1.2/32');
    const place = fc.nat({ max: places.length - 1 });
    const datagram = fc.tuple(place, place, fc.integer({ min: 1, max: 1_400 }));
    let cases = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(datagram, { minLength: 1, maxLength: 60 }), async (all) => {
        // ports of its own in the place of programs of its own, which take a second to load on a busy machine
        const first = FIRST_PORT + PORTS_OF_CASE * cases++;
        const ends = places.map(([address, port]) => ({ address, port: first + port }));
        const sent = all.filter(
          ([from, to]) =>
            from !== to && ends[from]!.address.includes(':') === ends[to]!.address.includes(':'),
        );
        const output = machine.run(SENDS, JSON.stringify(ends), JSON.stringify(sent));
        const model = modelled(ends, sent, new Set(JSON.parse(output) as number[]));
        const found = (await measured(source)).filter(({ side, local, remote }) => {
          const { port } = side === 'client' ? remote : local;
          return port >= first && port < first + PORTS_OF_CASE;
        });
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
        const events = read(source);
        const answered = [...model.values()].filter(({ byServer }) => byServer.packets > 0);
        assert.equal(events.filter(({ kind }) => kind === 'begun').length, model.size);
        assert.equal(events.filter(({ kind }) => kind === 'opened').length, answered.length);
      }),
      { numRuns: 8 },
    );
  });

  test('conversations that leave the map for newer ones are counted, also by the next agent', async () => {
    const begun = 40_000;
    machine.run(MANY, LOST, String(begun));
    const present = (await measured(source)).length;
    assert.ok(present <= 1 << 15, `${present}`);
    assert.equal(source.displaced, begun - present);
    const next = await machine.open();
    await measured(next);
    assert.equal(next.displaced, begun - present);
  });

  test('datagrams that the kernel cuts from one send are counted', async () => {
    machine.run(SEGMENTS);
    const one = (await measured(source)).find(({ side }) => side === 'client');
    assert.deepEqual([one?.sent, one?.datagrams?.sent], [4000, 4]);
  });
});

const FIRST_PORT = 7_000;
const PORTS_OF_CASE = 10;
const places = [
  ['10.1.1.1', 1],
  ['10.1.1.1', 2],
  ['10.1.1.1', 3],
  ['10.1.1.2', 1],
  ['10.1.1.2', 2],
  ['fd00::1', 1],
  ['fd00::1', 2],
] as const;

interface Modelled {
  readonly byClient: { packets: number; bytes: number };
  readonly byServer: { packets: number; bytes: number };
  sockets: number;
  lastPort: number;
}

/**
 * Conversations by side, client, server and port, of datagrams that arrive one after the other.
 * @param lost numbers of those that have not arrived: the kernel drops some when a processor is busy with those of others
 */
function modelled(
  ends: readonly { readonly address: string; readonly port: number }[],
  sent: readonly (readonly [from: number, to: number, bytes: number])[],
  lost: ReadonlySet<number>,
): ReadonlyMap<string, Modelled> {
  const all = new Map<string, Modelled>();
  /** Of a socket: the conversation that has counted it last. */
  const counted = new Map<number, Modelled>();
  for (const [number, [from, to, bytes]] of sent.entries()) {
    const [a, b] = [ends[from]!, ends[to]!];
    const request = `${a.address} ${b.address} ${b.port}`;
    const answer = `${b.address} ${a.address} ${a.port}`;
    for (const [side, other] of [
      ['client', 'server'],
      ['server', 'client'],
    ] as const) {
      if (side === 'server' && lost.has(number)) continue;
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

/** Each datagram arrives before the next one is sent. Prints the numbers of those that do not. */
const SENDS = `
import json
sockets = []
lost = []
ends = json.loads(sys.argv[2])
for end in ends:
  one = socket.socket(socket.AF_INET6 if ':' in end['address'] else socket.AF_INET, socket.SOCK_DGRAM)
  one.bind((end['address'], end['port'])); one.settimeout(2); sockets.append(one)
for number, (a, b, length) in enumerate(json.loads(sys.argv[3])):
  sockets[a].sendto(b'x' * length, (ends[b]['address'], ends[b]['port']))
  try: sockets[b].recv(2000)
  except TimeoutError: lost.append(number)
print(json.dumps(lost))
`;

/** One answer, then none, for some longer than 10 s. */
const STOPS = `
import time
server = socket.socket(type=socket.SOCK_DGRAM); server.bind(('10.1.1.1', 0))
client = socket.socket(type=socket.SOCK_DGRAM)
client.sendto(b'x', server.getsockname())
_, other = server.recvfrom(10); server.sendto(b'y', other)
for _ in range(24): client.sendto(b'x', server.getsockname()); time.sleep(0.5)
`;

/** A datagram to each of many ports. */
const MANY = `
client = socket.socket(type=socket.SOCK_DGRAM)
for port in range(int(sys.argv[3])): client.sendto(b'x', (sys.argv[2], 10000 + port))
`;

/** UDP_SEGMENT */
const SEGMENTS = `
server = socket.socket(type=socket.SOCK_DGRAM); server.bind(('10.1.1.1', 0))
client = socket.socket(type=socket.SOCK_DGRAM); client.setsockopt(17, 103, 1000)
client.sendto(b'x' * 4000, server.getsockname())
`;
