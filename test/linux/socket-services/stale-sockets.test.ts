/** Which connected sockets of datagrams end, and which stay; the kernel's part is in the suite of real sockets. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ManualClock } from '#infra/clock/manual.ts';
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

  async endStale(): Promise<readonly bigint[]> {
    const clock = new ManualClock();
    const stale = new StaleSockets({
      sockets: {
        namespaces: async () => [...this.namespaces.keys()],
        datagramSockets: async (namespace) => {
          this.onDump(namespace);
          return this.namespaces.get(namespace ?? '') ?? [];
        },
        endDatagramSocket: async (_namespace, { cookie }) => {
          this.ended.push(cookie);
        },
      },
      connections: { entries: async () => this.#connections },
      isStale: ({ backend }) => this.stale.has(backend.toString('latin1')),
      clock,
      log: silentLogger,
    });
    stale.request();
    await clock.advance(1000);
    for (let at = 0; at < 10; at++) await turn();
    return this.ended;
  }
}

function text(endpoint: Endpoint): string {
  return encodeEndpoint(endpoint).toString('latin1');
}

describe('sockets of removed backends', () => {
  test('end in every namespace', async () => {
    const machine = new Machine();
    machine.connect('/run/netns/a', 1n);
    machine.connect('/run/netns/b', 2n);
    assert.deepEqual(await machine.endStale(), [1n, 2n]);
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
});
