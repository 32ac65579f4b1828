/** Reports of the kernel about connections, in network namespaces of the test. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import type {
  ConnectionEvent,
  EndedConnection,
  FlowSource,
  OngoingConnection,
} from '#linux/socket-flows/api.ts';
import { openFlowSource, removeFlowSource } from '#linux/socket-flows/open.ts';
import { withoutSocketHooks } from '#test/support/requirements.ts';
import { SysFs } from '../../support/sys-fs.ts';
import { SocketClient } from '../socket-services/machine.ts';

const SERVER = { address: '10.1.1.1', port: 8080 };
const SERVER6 = { address: 'fd00::1', port: 8080 };
/** Of the server's answer: its address and port. */
const ANSWER = '10.1.1.1 8080'.length;

describe('connections of the kernel', { skip: withoutSocketHooks() }, () => {
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
    source = await open();
  });
  after(async () => {
    source?.remove();
    await client.close();
    sysFs[Symbol.dispose]();
  });
  beforeEach(() => void read());

  function read(from = source): ConnectionEvent[] {
    const found: ConnectionEvent[] = [];
    while (from.read((event) => found.push(event), 1000));
    return found;
  }

  /** Waits for the ends of both sockets of a connection. */
  async function events(ends: number, from = source): Promise<ConnectionEvent[]> {
    const found: ConnectionEvent[] = [];
    for (let tries = 0; tries < 100; tries++) {
      found.push(...read(from));
      if (found.filter(({ kind }) => kind === 'ended').length >= ends) return found;
      await systemClock.sleep(20);
    }
    throw new Error(`got ${JSON.stringify(found)}`);
  }

  const connect = (to: { address: string; port: number }) =>
    client.request({ kind: 'connect', to });

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
    assert.deepEqual(read(), []);
  });

  test('a refusal', async () => {
    assert.equal((await connect({ ...SERVER, port: 9 })).error, 'ECONNREFUSED');
    const [only, ...others] = await events(1);
    assert.deepEqual(others, []);
    assert.equal(only?.kind === 'ended' && only.outcome, 'refused');
  });

  test('a client that gives up before and after it has sent its first packet again', async () => {
    const to = { address: '10.9.0.2', port: 80 };
    await client.request({ kind: 'give-up', to, afterMs: 100 });
    const [early, ...others] = await events(1);
    assert.deepEqual(others, []);
    assert.equal(early?.kind === 'ended' && early.outcome, 'unanswered');
    await client.request({ kind: 'give-up', to, afterMs: 1_500 });
    const [waits, end] = await events(1);
    assert.equal(waits?.kind, 'unanswered');
    assert.equal(end?.kind === 'ended' && end.outcome, 'unanswered');
    assert.equal(waits?.id, end?.id);
    assert.deepEqual(waits?.remote, to);
  });

  test('the next agent continues to read', async () => {
    await connect(SERVER);
    const next = await open();
    const found = await events(2, next);
    assert.equal(found.length, 4);
    assert.deepEqual(read(), []);
    await connect(SERVER);
    assert.equal((await events(2, next)).length, 4);
  });

  test('what continues is measured, also by the next agent', async () => {
    const [command, ...args] = ['nsenter', `--net=${client.namespace}`, 'python3', '-c', HOLD];
    const process = spawn(command!, [...args, sysFs.group], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(process.stdout, 'data');
    const begun = await events(0);
    for (let tries = 0; begun.length < 2 && tries < 100; tries++) {
      await systemClock.sleep(20);
      begun.push(...read());
    }
    const next = await open();
    const found: OngoingConnection[] = [];
    await next.measure((one) => one.kind === 'goes-on' && found.push(one));
    assert.deepEqual(found.map(({ id }) => id).sort(), begun.map(({ id }) => id).sort());
    for (const { side, sent, received, rttUs, isAnswered, isOfHost, local, remote } of found) {
      const isClient = side === 'client';
      assert.deepEqual([sent, received], isClient ? [1000, 50] : [50, 1000]);
      assert.ok(rttUs > 0 && isAnswered);
      assert.equal(isOfHost, false);
      const opened = begun.find((event) => event.side === side);
      assert.deepEqual([local, remote], [opened?.local, opened?.remote]);
    }
    process.stdin.end();
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
    execFileSync(
      'nsenter',
      [`--net=${client.namespace}`, 'python3', '-c', PYTHON, sysFs.group, String(connections)],
      { stdio: 'pipe' },
    );
    const found = read();
    const lost = source.lost();
    assert.ok(lost > 0, `${lost} lost`);
    assert.equal(found.length + lost, 4 * connections);
    await connect(SERVER);
    assert.equal((await events(2)).length, 4);
    assert.equal(source.lost(), lost);
  });

  test('what was removed is reported, and made again', async () => {
    const folder = join(sysFs.path, 'bpf/contiv-vswitch-flows');
    rmSync(join(folder, 'connection'));
    assert.deepEqual(source.lostParts(), ['no program runs at connection']);
    source.restore();
    assert.deepEqual(source.lostParts(), []);
    sysFs.remountBpf();
    assert.equal(source.lostParts().length, 5);
    source.restore();
    assert.deepEqual(source.lostParts(), []);
    await connect(SERVER);
    assert.equal((await events(2)).length, 4);
  });

  test('maps of another layout are replaced', async () => {
    const folder = join(sysFs.path, 'bpf/contiv-vswitch-flows');
    execFileSync('mv', [join(folder, 'maps-2'), join(folder, 'maps-0')]);
    const next = await open();
    await connect(SERVER);
    assert.equal((await events(2, next)).length, 4);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('maps-')),
      ['maps-2'],
    );
  });

  test('removed files end the programs, as an operator removes them who goes back to a release without flows', async () => {
    rmSync(join(sysFs.path, 'bpf/contiv-vswitch-flows'), { recursive: true });
    await connect(SERVER);
    await systemClock.sleep(100);
    assert.deepEqual(read(), []);
    assert.equal(source.lostParts().length, 5);
    source.restore();
    await connect(SERVER);
    assert.equal((await events(2)).length, 4);
  });

  test('nothing is left after removal', async () => {
    removeFlowSource(sysFs.path);
    assert.ok(!existsSync(join(sysFs.path, 'bpf/contiv-vswitch-flows')));
    await connect(SERVER);
    source = await open();
    assert.deepEqual(read(), []);
    await connect(SERVER);
    assert.equal((await events(2)).length, 4);
  });
});

/** A connection that has sent 1000 bytes, and 50 back, and waits for the end of the input. */
const HOLD = `
import os, socket, sys
open(sys.argv[1] + '/cgroup.procs', 'w').write(str(os.getpid()))
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
const PYTHON = `
import os, socket, sys
open(sys.argv[1] + '/cgroup.procs', 'w').write(str(os.getpid()))
server = socket.socket(); server.bind(('10.1.1.1', 0)); server.listen(16)
for _ in range(int(sys.argv[2])):
  client = socket.socket(); client.connect(server.getsockname())
  accepted, _ = server.accept()
  client.close(); accepted.recv(1); accepted.close()
`;
