/**
 * The CNI service, called with the gRPC version of the original contiv-cni (grpc-go 1.27.1), which
 * sends the path of the socket as `:authority`. `connection.hex` has all bytes that such a client sent to
 * /var/run/contiv/cni.sock for three calls.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { CNIReply, CNIRequest, StatusReply } from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import type { CniService } from '#plugins/podmanager/cni-service.ts';
import { type CniServer, serveCni } from '#plugins/podmanager/cni-socket.ts';
import { huffman } from '#test/infra/grpc/http2/hpack-encoder.ts';
import { pieces } from '#test/infra/grpc/http2/http2-client.ts';
import { withoutGo } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';

const requests = messageCodec(CNIRequest);
const replies = messageCodec(CNIReply);
const sources = join(import.meta.dirname, 'grpc-go');
const folder = mkdtempSync(join(tmpdir(), 'grpc-go-'));
const socketPath = join(folder, 'cni.sock');

let server: CniServer;
/** Containers of the calls so far. */
const seen: string[] = [];
const service: CniService = {
  add: async ({ container_id }) => {
    seen.push(`add ${container_id}`);
    if (container_id === 'bad')
      return replies.canonical({ result: 11, error: 'VPP: not\nconnected' });
    return replies.canonical({ routes: [{ dst: '0.0.0.0/0', gw: container_id }] });
  },
  delete: async ({ container_id }) => {
    seen.push(`delete ${container_id}`);
    return replies.canonical({});
  },
  check: async () => replies.canonical({}),
  gc: async () => replies.canonical({}),
  status: async () => messageCodec(StatusReply).canonical({ ready: true }),
};

before(async () => {
  server = await serveCni({
    service,
    socketPath,
    mode: 0o700,
    replaceStale: true,
    clock: systemClock,
    log: silentLogger,
  });
});
after(async () => {
  await server.close(0);
  rmSync(folder, { recursive: true });
});

interface Answer {
  readonly code: number;
  readonly message: string;
  readonly reply: string;
  /** The trailer of a failure. */
  readonly failure: string;
}

type GoCall = readonly [method: 'Add' | 'Delete', containerId: string];

describe('a client with grpc-go 1.27.1', { skip: withoutGo() }, () => {
  const client = join(folder, 'client');
  before(() => {
    execFileSync('go', ['build', '-mod=readonly', '-buildvcs=false', '-o', client, '.'], {
      cwd: sources,
    });
  });

  /** All calls on one connection. */
  function run(calls: readonly GoCall[], ...options: string[]): Promise<readonly Answer[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Answer[]>();
    const child = execFile(
      client,
      [socketPath, ...options],
      { maxBuffer: 1 << 26 },
      (error, output) => {
        if (error) reject(error);
        else
          resolve(
            output
              .split('\n')
              .filter(Boolean)
              .map((line) => JSON.parse(line)),
          );
      },
    );
    for (const [method, container_id] of calls) {
      const request = requests.encodeWire(requests.canonical({ container_id }));
      child.stdin!.write(`/cni.RemoteCNI/${method} ${Buffer.from(request).toString('hex')}\n`);
    }
    child.stdin!.end();
    return promise;
  }

  const gatewayOf = ({ code, message, reply }: Answer) => {
    assert.equal(code, 0, message);
    return replies.decodeWire(Buffer.from(reply, 'hex'), 'reply').routes[0]?.gw;
  };

  it('attaches and detaches pods', async () => {
    const [added, deleted, again] = await run([
      ['Add', 'c1'],
      ['Delete', 'c1'],
      ['Add', 'c2'],
    ]);
    assert.deepEqual([added!, deleted!, again!].map(gatewayOf), ['c1', undefined, 'c2']);
  });

  it('gets an error status with the text, and the reply as trailer', async () => {
    const [failed, next] = await run([
      ['Add', 'bad'],
      ['Add', 'c1'],
    ]);
    assert.deepEqual([failed!.code, failed!.message], [14, 'VPP: not\nconnected']);
    const { result, error } = replies.decodeWire(Buffer.from(failed!.failure, 'hex'), 'trailer');
    assert.deepEqual([result, error], [11, 'VPP: not\nconnected']);
    assert.equal(gatewayOf(next!), 'c1');
  });

  it('makes many calls at once on one connection, also large ones', async () => {
    const names = Array.from({ length: 200 }, (_, at) => `c${at}-`.padEnd(4 + 97 * at, 'x'));
    const answers = await run(
      names.map((name) => ['Add', name]),
      '-parallel',
    );
    assert.deepEqual(answers.map(gatewayOf), names);
  });
});

describe('a recorded connection of grpc-go 1.27.1', () => {
  const text = readFileSync(join(sources, 'connection.hex'), 'utf8');
  const recorded = Buffer.from(text.replace(/\s/g, ''), 'hex');

  it('has the path of the socket as authority', () => {
    assert.ok(recorded.includes(huffman('/var/run/contiv/cni.sock')));
  });

  it('attaches and detaches pods, wherever it is split', async () => {
    for (let seed = 0; seed < 20; seed++) {
      seen.length = 0;
      const socket = connect(socketPath).resume();
      const random = seededRandom(seed);
      for (const piece of pieces(recorded, random, seed)) {
        socket.write(piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await until('three calls', () => seen.length === 3, 5_000);
      socket.destroy();
      assert.deepEqual(seen, ['add golden-1', 'delete golden-1', 'add golden-2']);
    }
  });
});
