import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Server } from 'node:net';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { Connections } from '#infra/http/connections.ts';
import { retainedBytes } from '#test/support/retained-bytes.ts';

class FakeSocket extends EventEmitter {
  readonly localAddress = '10.0.0.1';
  readonly remoteAddress: string;
  readableLength = 0;
  destroyed = false;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

function fixture() {
  const clock = new ManualClock();
  const server = new EventEmitter();
  /** The last ones. */
  const begun: FakeSocket[] = [];
  server.on('connection', (socket: FakeSocket) => {
    begun.push(socket);
    if (begun.length > 10) begun.shift();
  });
  new Connections(clock).limit(server as unknown as Server);
  const connect = (address: string) => {
    const socket = new FakeSocket(address);
    server.emit('connection', socket);
    return socket;
  };
  const sendMalformed = (address: string) => {
    const socket = connect(address);
    const error = Object.assign(new Error('malformed'), { code: 'HPE_INVALID_METHOD' });
    server.emit('clientError', error, socket);
    socket.destroy();
  };
  return { clock, begun, connect, sendMalformed };
}

describe('connections to the endpoint', () => {
  it('from an address are closed for a second after a malformed request', async () => {
    const { clock, connect, sendMalformed } = fixture();
    sendMalformed('10.1.1.1');
    await clock.advance(999);
    assert.equal(connect('10.1.1.1').destroyed, true);
    assert.equal(connect('10.1.1.2').destroyed, false);
    await clock.advance(1);
    assert.equal(connect('10.1.1.1').destroyed, false);
  });

  it('of the machine itself begin one after the other for a second after a malformed request', async () => {
    const { clock, begun, connect, sendMalformed } = fixture();
    const own = '10.0.0.1';
    await clock.advance(1_000);
    sendMalformed(own);
    begun.length = 0;
    const sockets = [connect(own), connect(own), connect(own), connect(own)];
    sockets[1]!.emit('error', new Error('reset'));
    sockets[1]!.destroy();
    sockets[2]!.readableLength = 17_000;
    await clock.advance(20);
    assert.deepEqual(begun, [sockets[0]]);
    await clock.advance(19);
    assert.deepEqual(begun, [sockets[0]]);
    await clock.advance(1);
    assert.deepEqual(begun, [sockets[0], sockets[3]]);
    assert.equal(sockets[2]!.destroyed, true);
    await clock.advance(1_000);
    const last = connect(own);
    assert.equal(begun.at(-1), last);
  });

  it('leave nothing in memory of addresses that never return', async () => {
    const { clock, sendMalformed } = fixture();
    const attack = async (first: number) => {
      for (let n = first; n < first + 50_000; n++) {
        sendMalformed(`fd00::${n.toString(16)}`);
        if (n % 500 === 0) await clock.advance(1_000);
      }
    };
    await attack(0);
    const before = retainedBytes();
    await attack(50_000);
    assert.ok(retainedBytes() - before < 1_000_000, `${retainedBytes() - before} bytes`);
  });
});
