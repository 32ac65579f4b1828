/** Reports of the kernel about connections, in network namespaces of the test. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import type {
  ConnectionEvent,
  EndedConnection,
  FlowSource,
  OngoingConnection,
} from '#linux/socket-flows/api.ts';
import { removeFlowSource } from '#linux/socket-flows/open.ts';
import { withoutSocketHooks } from '#test/support/requirements.ts';
import { FlowMachine, LOST, measured, read, SERVER, SERVER6 } from './flow-machine.ts';

/** Of the server's answer: its address and port. */
const ANSWER = '10.1.1.1 8080'.length;
/** Until the kernel has ended both ends of a connection, on a busy machine. */
const LIMIT_MS = 30_000;

describe('connections of the kernel', { skip: withoutSocketHooks() }, () => {
  let machine: FlowMachine;
  let source: FlowSource;

  before(async () => {
    machine = await FlowMachine.start();
    source = await machine.open();
  });
  after(async () => {
    source?.remove();
    await machine.close();
  });
  beforeEach(() => void read(source));

  /** Waits for the ends of sockets. */
  async function events(ends: number, from = source): Promise<ConnectionEvent[]> {
    const found: ConnectionEvent[] = [];
    const begun = systemClock.now();
    while (systemClock.now() - begun < LIMIT_MS) {
      found.push(...read(from));
      if (found.filter(({ kind }) => kind === 'ended').length >= ends) return found;
      await systemClock.sleep(20);
    }
    throw new Error(`got ${JSON.stringify(found)}`);
  }

  const connect = (to: { address: string; port: number }) =>
    machine.client.request({ kind: 'connect', to });

  for (const to of [SERVER, SERVER6])
    test(`both ends of a connection to ${to.address}, with its bytes`, async () => {
      const from = systemClock.now();
      await connect(to);
      const found = await events(2);
      assert.deepEqual(found.map(({ kind, side }) => `${side} ${kind}`).sort(), [
        'client ended',
        'client opened',
        'server ended',
        'server opened',
      ]);
      for (const event of found) {
        const { kind, side, local, remote, isOfHost } = event;
        const [own, other] = side === 'client' ? [remote, local] : [local, remote];
        assert.deepEqual(own, to);
        assert.equal(other.address, to.address);
        assert.equal(isOfHost, false);
        assert.ok(event.begun >= from - 50 && event.time >= event.begun, `${event.begun}`);
        if (kind !== 'ended') continue;
        const length = to === SERVER ? ANSWER : 'fd00::1 8080'.length;
        assert.equal(event.outcome, 'closed');
        assert.deepEqual(
          [event.sent, event.received],
          side === 'client' ? [0, length] : [length, 0],
        );
        assert.ok(event.rttUs > 0);
      }
      const ids = new Set(found.map(({ id }) => id));
      assert.equal(ids.size, 2);
    });

  test('an IPv4-mapped address is one of IPv4', async () => {
    await connect({ address: '::ffff:10.1.1.1', port: 8080 });
    const [first] = await events(2);
    assert.equal(first?.remote.address, '10.1.1.1');
    assert.equal(first?.local.address, '10.1.1.1');
  });

  test('nothing of the loopback address', async () => {
    await connect({ address: '127.0.0.1', port: 8080 });
    await connect({ address: '::ffff:127.0.0.1', port: 8080 });
    await systemClock.sleep(100);
    assert.deepEqual(read(source), []);
  });

  test('a refusal', async () => {
    assert.equal((await connect({ ...SERVER, port: 9 })).error, 'ECONNREFUSED');
    const [only, ...others] = await events(1);
    assert.deepEqual(others, []);
    assert.equal(only?.kind === 'ended' && only.outcome, 'refused');
  });

  test('a client that gives up before and after it has sent its first packet again', async () => {
    const to = { address: LOST, port: 80 };
    await machine.client.request({ kind: 'give-up', to, afterMs: 100 });
    // the timer of a busy client may be late
    const early = (await events(1)).at(-1);
    assert.equal(early?.kind === 'ended' && early.outcome, 'unanswered');
    await machine.client.request({ kind: 'give-up', to, afterMs: 1_500 });
    const found = await events(1);
    const [waits, end] = [found[0], found.at(-1)];
    assert.equal(waits?.kind, 'unanswered');
    assert.equal(end?.kind === 'ended' && end.outcome, 'unanswered');
    assert.deepEqual([...new Set(found.map(({ id }) => id))], [end?.id]);
    assert.deepEqual(waits?.remote, to);
  });

  test('the next agent continues to read', async () => {
    await connect(SERVER);
    const next = await machine.open();
    const found = await events(2, next);
    assert.equal(found.length, 4);
    assert.deepEqual(read(source), []);
    await connect(SERVER);
    assert.equal((await events(2, next)).length, 4);
  });

  test('what continues is measured, also by the next agent', async () => {
    const process = machine.spawn(HOLD);
    await once(process.stdout!, 'data');
    const begun = await events(0);
    for (let tries = 0; begun.length < 2 && tries < 100; tries++) {
      await systemClock.sleep(20);
      begun.push(...read(source));
    }
    const next = await machine.open();
    const found = await measured(next);
    assert.deepEqual(found.map(({ id }) => id).sort(), begun.map(({ id }) => id).sort());
    for (const { side, sent, received, rttUs, isAnswered, isOfHost, local, remote } of found) {
      const isClient = side === 'client';
      assert.deepEqual([sent, received], isClient ? [1000, 50] : [50, 1000]);
      assert.ok(rttUs > 0 && isAnswered);
      assert.equal(isOfHost, false);
      const opened = begun.find((event) => event.side === side);
      assert.deepEqual([local, remote], [opened?.local, opened?.remote]);
    }
    process.stdin!.end();
    await once(process, 'exit');
    const ends = await events(2, next);
    assert.deepEqual(ends.map(({ id }) => id).sort(), found.map(({ id }) => id).sort());
    const none: (OngoingConnection | EndedConnection)[] = [];
    await next.measure((connection) => none.push(connection));
    assert.deepEqual(none, []);
  });

  test('events that find no space are counted', async () => {
    assert.equal(source.lost(), 0);
    // each connection that opens has 4 events of 144 bytes with their headers
    const connections = Math.ceil((1 << 22) / (4 * 144)) + 50;
    machine.run(CONNECTS, String(connections));
    const found = read(source);
    const lost = source.lost();
    assert.ok(lost > 0, `${lost} lost`);
    assert.equal(found.length + lost, 4 * connections);
    await connect(SERVER);
    assert.equal((await events(2)).length, 4);
    assert.equal(source.lost(), lost);
  });

  test('what was removed is reported, and made again', async () => {
    const folder = join(machine.sysFs.path, 'bpf/contiv-vswitch-flows');
    rmSync(join(folder, 'connection'));
    assert.deepEqual(source.lostParts(), ['no program runs at connection']);
    source.restore();
    assert.deepEqual(source.lostParts(), []);
    machine.sysFs.remountBpf();
    assert.equal(source.lostParts().length, 5);
    source.restore();
    assert.deepEqual(source.lostParts(), []);
    await connect(SERVER);
    assert.equal((await events(2)).length, 4);
  });

  test('maps of another layout are replaced', async () => {
    const folder = join(machine.sysFs.path, 'bpf/contiv-vswitch-flows');
    execFileSync('mv', [join(folder, 'maps-3'), join(folder, 'maps-0')]);
    const next = await machine.open();
    await connect(SERVER);
    assert.equal((await events(2, next)).length, 4);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('maps-')),
      ['maps-3'],
    );
  });

  test('removed files end the programs, as an operator removes them who goes back to a release without flows', async () => {
    rmSync(join(machine.sysFs.path, 'bpf/contiv-vswitch-flows'), { recursive: true });
    await connect(SERVER);
    await systemClock.sleep(100);
    assert.deepEqual(read(source), []);
    assert.equal(source.lostParts().length, 5);
    source.restore();
    await connect(SERVER);
    assert.equal((await events(2)).length, 4);
  });

  test('nothing is left after removal', async () => {
    removeFlowSource(machine.sysFs.path);
    assert.ok(!existsSync(join(machine.sysFs.path, 'bpf/contiv-vswitch-flows')));
    await connect(SERVER);
    source = await machine.open();
    assert.deepEqual(read(source), []);
    await connect(SERVER);
    assert.equal((await events(2)).length, 4);
  });
});

/** A connection that has sent 1000 bytes, and 50 back, and waits for the end of the input. */
const HOLD = `
server = socket.socket(); server.bind(('10.1.1.1', 0)); server.listen(16)
client = socket.socket(); client.connect(server.getsockname())
accepted, _ = server.accept()
client.sendall(b'x' * 1000)
got = 0
while got < 1000: got += len(accepted.recv(1000))
accepted.sendall(b'y' * 50); client.recv(50)
print('ready', flush=True)
sys.stdin.read()
`;

/** Connections one after the other, of a process of the group. */
const CONNECTS = `
server = socket.socket(); server.bind(('10.1.1.1', 0)); server.listen(16)
for _ in range(int(sys.argv[2])):
  client = socket.socket(); client.connect(server.getsockname())
  accepted, _ = server.accept()
  client.close(); accepted.recv(1); accepted.close()
`;
