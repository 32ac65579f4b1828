/** Which connected sockets of datagrams end, and which stay; the kernel's part is in the suite of real sockets. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { LinuxError, type NamespacePath } from '#linux/api.ts';
import type { FoundSocket } from '#linux/netlink/sockets.ts';
import { type Endpoint, encodeEndpoint } from '#linux/socket-services/layout.ts';
import { StaleSockets } from '#linux/socket-services/stale-sockets.ts';

const service = { address: '10.96.0.10', port: 53 };
const removed = { address: '10.1.1.2', port: 5353 };
const other = { address: '10.1.1.3', port: 5353 };

class Machine {
  readonly namespaces = new Map<string, readonly FoundSocket[]>();
  readonly ended: bigint[] = [];
  /** Backends that no service has. */
  readonly stale = new Set([text(removed)]);
  /** Called before the sockets of a namespace are read. */
  onDump: (namespace: NamespacePath) => void = () => undefined;
  /** Called before a socket is ended. */
  onEnd: (cookie: bigint) => void = () => undefined;
  readonly clock = new ManualClock();
  readonly warnings: Readonly<Record<string, unknown>>[] = [];
  readonly #connections: [Buffer, Buffer][] = [];

  /** Connected by way of the service to the removed backend. */
  connect(namespace: string, cookie: bigint): void {
    const key = Buffer.alloc(8);
    key.writeBigUInt64LE(cookie);
    this.#connections.push([
      key,
      Buffer.concat([encodeEndpoint(service), encodeEndpoint(removed)]),
    ]);
    this.setRemote(namespace, cookie, removed);
  }

  setRemote(namespace: string, cookie: bigint, remote: Endpoint): void {
    const others = (this.namespaces.get(namespace) ?? []).filter((one) => one.cookie !== cookie);
    this.namespaces.set(namespace, [
      ...others,
      { family: 2, id: new Uint8Array(48), cookie, remote },
    ]);
  }

  readonly staleSockets = new StaleSockets({
    sockets: {
      namespaces: async () => [...this.namespaces.keys()],
      datagramSockets: async (namespace) => {
        this.onDump(namespace);
        return this.namespaces.get(namespace ?? '') ?? [];
      },
      endDatagramSocket: async (_namespace, { cookie }) => {
        this.onEnd(cookie);
        this.ended.push(cookie);
      },
    },
    connections: {
      entries: async () =>
        this.#connections.filter(([key]) => !this.ended.includes(key.readBigUInt64LE())),
    },
    isStale: ({ backend }) => this.stale.has(backend.toString('latin1')),
    clock: this.clock,
    random: seededRandom(1),
    log: { ...silentLogger, warn: (fields: object) => void this.warnings.push({ ...fields }) },
  });

  /** Time passes, in steps. */
  async pass(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += 100) {
      await this.clock.advance(100);
      for (let turns = 0; turns < 10; turns++) await turn();
    }
  }

  async endStale(): Promise<readonly bigint[]> {
    this.staleSockets.request();
    await this.pass(200);
    return this.ended;
  }
}

const refused = (errno: string) => new LinuxError('refused', { where: 'socket', errno });

function text(endpoint: Endpoint): string {
  return encodeEndpoint(endpoint).toString('latin1');
}

describe('sockets of removed backends', () => {
  test('end in every namespace', async () => {
    const machine = new Machine();
    machine.connect('/run/netns/a', 1n);
    machine.connect('/run/netns/b', 2n);
    assert.deepEqual(await machine.endStale(), [1n, 2n]);
    assert.equal(machine.staleSockets.connections, 2);
  });

  test('stay if the process has connected them elsewhere before they are found', async () => {
    const machine = new Machine();
    machine.connect('/run/netns/a', 1n);
    machine.connect('/run/netns/a', 2n);
    machine.onDump = () => machine.setRemote('/run/netns/a', 1n, other);
    assert.deepEqual(await machine.endStale(), [2n]);
  });

  test('stay if the backend is back before they are found', async () => {
    const machine = new Machine();
    machine.connect('/run/netns/a', 1n);
    machine.onDump = () => machine.stale.clear();
    assert.deepEqual(await machine.endStale(), []);
  });

  test('end although another namespace cannot be read', async () => {
    const machine = new Machine();
    machine.connect('/run/netns/a', 1n);
    machine.connect('/run/netns/b', 2n);
    machine.onDump = (namespace) => {
      if (namespace === '/run/netns/a')
        throw new LinuxError('denied', { where: namespace, errno: 'EPERM' });
    };
    assert.deepEqual(await machine.endStale(), [2n]);
  });

  test('that cannot be ended do not keep those of the same namespace, and are tried again until they end', async () => {
    const machine = new Machine();
    machine.connect('/run/netns/a', 1n);
    machine.connect('/run/netns/a', 2n);
    machine.onEnd = (cookie) => {
      if (cookie === 1n) throw refused('EOPNOTSUPP');
    };
    assert.deepEqual(await machine.endStale(), [2n]);
    await machine.pass(600_000);
    const { failures } = machine.staleSockets;
    assert.ok(failures >= 14 && failures <= 30, `${failures} attempts within 10 minutes`);
    assert.deepEqual(machine.warnings.length, 1);
    assert.equal(machine.warnings[0]!['code'], 'CV_SOCKET_NOT_ENDED');
    machine.onEnd = () => undefined;
    await machine.pass(61_000);
    assert.deepEqual(machine.ended, [2n, 1n]);
    await machine.pass(120_000);
    assert.equal(machine.staleSockets.failures, failures);
  });

  test('are tried at once when other backends are removed, and a new failure is logged again', async () => {
    const machine = new Machine();
    machine.connect('/run/netns/a', 1n);
    machine.onEnd = () => {
      throw refused('EPERM');
    };
    await machine.endStale();
    await machine.pass(60_000);
    const { failures } = machine.staleSockets;
    await machine.endStale();
    assert.equal(machine.staleSockets.failures, failures + 1);
    machine.onEnd = () => undefined;
    assert.deepEqual(await machine.endStale(), [1n]);
    machine.connect('/run/netns/a', 2n);
    machine.onEnd = () => {
      throw refused('EPERM');
    };
    await machine.endStale();
    assert.equal(machine.warnings.length, 2);
  });

  test('that have ended by themselves are no failure', async () => {
    const machine = new Machine();
    machine.connect('/run/netns/a', 1n);
    machine.onEnd = () => {
      throw refused('ENOENT');
    };
    await machine.endStale();
    assert.equal(machine.staleSockets.failures, 0);
  });

  test('are tried again if they cannot be found', async () => {
    const machine = new Machine();
    machine.connect('/run/netns/a', 1n);
    let isBroken = true;
    machine.onDump = () => {
      if (isBroken) throw refused('ENOBUFS');
    };
    assert.deepEqual(await machine.endStale(), []);
    isBroken = false;
    await machine.pass(2_000);
    assert.deepEqual(machine.ended, [1n]);
  });
});
