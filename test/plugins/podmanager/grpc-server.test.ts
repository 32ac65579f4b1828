import assert from 'node:assert/strict';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { credentials, makeClientConstructor, type ServiceError, status } from '@grpc/grpc-js';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { CNIReply, CNIRequest, StatusReply } from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import { FAILED_REPLY_TRAILER } from '#plugins/podmanager/api.ts';
import type { CniService } from '#plugins/podmanager/cni-service.ts';
import { type CniServer, CniSocketError, serveCni } from '#plugins/podmanager/cni-socket.ts';
import { cniServiceDefinition } from '#plugins/podmanager/grpc-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'cni-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let sockets = 0;
const freshPath = () => join(folder, `${sockets++}.sock`);

const requests = messageCodec(CNIRequest);
const replies = messageCodec(CNIReply);
const ok = replies.canonical({ routes: [{ dst: '0.0.0.0/0', gw: '10.1.1.1' }] });
const silent: CniService = {
  add: async () => ok,
  delete: async () => replies.canonical({}),
  check: async () => replies.canonical({}),
  gc: async () => replies.canonical({}),
  status: async () => messageCodec(StatusReply).canonical({ ready: true }),
};

const servers: CniServer[] = [];
after(() => Promise.all(servers.map((server) => server.close(0))));

async function serve(
  socketPath: string,
  service = silent,
  replaceStale = true,
): Promise<CniServer> {
  const server = await serveCni({
    service,
    socketPath,
    mode: 0o700,
    replaceStale,
    clock: systemClock,
    log: silentLogger,
  });
  servers.push(server);
  return server;
}

const Client = makeClientConstructor(cniServiceDefinition, 'RemoteCNI');

function clientOf(path: string) {
  const client = new Client(`unix:${path}`, credentials.createInsecure());
  const call = (method: 'Add' | 'Delete', containerId: string) => {
    let handle: { cancel(): void } | undefined;
    const answer = new Promise<CNIReply>((resolve, reject) => {
      const request = requests.canonical({ container_id: containerId });
      handle = client[method]!(request, (error: ServiceError | null, reply: CNIReply) =>
        error ? reject(error) : resolve(reply),
      );
    });
    return { answer, cancel: () => handle!.cancel() };
  };
  return { call, close: () => client.close() };
}

describe('CNI over gRPC', () => {
  it('carries requests and replies, under the names of the original', async () => {
    const seen: string[] = [];
    const service: CniService = {
      ...silent,
      add: async ({ container_id }) => {
        seen.push(`add ${container_id}`);
        return ok;
      },
      delete: async ({ container_id }) => {
        seen.push(`delete ${container_id}`);
        return replies.canonical({ result: 1, error: 'no' });
      },
    };
    assert.equal(cniServiceDefinition.Add.path, '/cni.RemoteCNI/Add');
    const path = freshPath();
    const server = await serve(path, service);
    const client = clientOf(path);
    assert.deepEqual(await client.call('Add', 'c1').answer, ok);
    const failed = await client.call('Delete', 'c2').answer.then(
      () => assert.fail('the call succeeded'),
      (error: ServiceError) => error,
    );
    assert.deepEqual([failed.code, failed.details], [status.UNKNOWN, 'no']);
    assert.deepEqual(seen, ['add c1', 'delete c2']);
    client.close();
    await server.close(1000);
  });

  it('answers a failure with an error status, and with the reply as trailer', async () => {
    let reply = replies.canonical({});
    const path = freshPath();
    await serve(path, { ...silent, add: async () => reply });
    const client = clientOf(path);
    const long = '\u{1F600}'.repeat(100_000);
    for (const [result, code, error] of [
      [1, status.UNKNOWN, 'VPP answered -1'],
      [4, status.INVALID_ARGUMENT, 'the CNI request lacks container_id'],
      [11, status.UNAVAILABLE, 'line 1\nline 2: größer'],
      [1, status.UNKNOWN, long],
    ] as const) {
      reply = replies.canonical({ result, error });
      const failed = await client.call('Add', 'c1').answer.then(
        () => assert.fail('the call succeeded'),
        (thrown: ServiceError) => thrown,
      );
      assert.equal(failed.code, code);
      assert.ok(
        error.startsWith(failed.details) && failed.details !== '',
        failed.details.slice(0, 80),
      );
      const [trailer] = failed.metadata.get(FAILED_REPLY_TRAILER);
      const read = replies.decodeWire(trailer as Buffer, 'trailer');
      assert.deepEqual([read.result, read.error], [result, failed.details]);
    }
    client.close();
  });

  it('has a socket with its mode and nothing beside it, and takes it away at the end', async () => {
    const path = freshPath();
    const server = await serve(path);
    assert.equal(statSync(path).mode & 0o777, 0o700);
    assert.deepEqual(
      readdirSync(folder).filter((name) => path.endsWith(name.replace('.new', ''))),
      [path.slice(folder.length + 1)],
    );
    await server.close(1000);
    assert.ok(!existsSync(path));
  });

  it('aborts the signal when the caller disconnects', async () => {
    const { promise: aborted, resolve } = Promise.withResolvers<unknown>();
    const { promise: called, resolve: entered } = Promise.withResolvers<void>();
    const service: CniService = {
      ...silent,
      add: (_, signal) =>
        new Promise((_resolve, reject) => {
          entered();
          signal!.addEventListener('abort', () => {
            resolve(signal!.reason);
            reject(signal!.reason);
          });
        }),
    };
    const path = freshPath();
    const server = await serve(path, service);
    const client = clientOf(path);
    const { answer, cancel } = client.call('Add', 'c1');
    const refused = assert.rejects(answer, { code: status.CANCELLED });
    await called;
    cancel();
    assert.match(String(await aborted), /has disconnected/);
    await refused;
    client.close();
    await server.close(1000);
  });

  it('lets calls under way end, and does not wait for ever', async () => {
    const { promise: called, resolve: entered } = Promise.withResolvers<void>();
    const { promise: answer, resolve: finish } = Promise.withResolvers<CNIReply>();
    const service: CniService = {
      ...silent,
      add: () => {
        entered();
        return answer;
      },
      delete: () => new Promise(() => undefined),
    };
    const path = freshPath();
    const server = await serve(path, service);
    const client = clientOf(path);
    const slow = client.call('Add', 'c1').answer;
    await called;
    const closed = server.close(60_000);
    finish(ok);
    assert.deepEqual(await slow, ok);
    await closed;
    client.close();

    const second = freshPath();
    const other = await serve(second, service);
    const stuck = clientOf(second);
    const never = assert.rejects(stuck.call('Delete', 'c1').answer);
    await new Promise((resolve) => setImmediate(resolve));
    await other.close(20);
    await never;
    stuck.close();
  });

  it('replaces a stale socket, but never one that answers nor what is no socket', async () => {
    const path = freshPath();
    // a socket file whose server has died without unlinking it
    const dead = createServer();
    await new Promise<void>((resolve) => dead.listen(`${path}.dead`, resolve));
    renameSync(`${path}.dead`, path);
    await new Promise((resolve) => dead.close(resolve));
    assert.ok(existsSync(path));

    await assert.rejects(serve(path, silent, false), CniSocketError);
    const server = await serve(path);
    await assert.rejects(serve(path), /another process listens on the CNI socket/);
    await server.close(1000);

    writeFileSync(path, 'a file');
    await assert.rejects(serve(path), /not a socket/);
  });

  it('says why it cannot listen', async () => {
    await assert.rejects(serve(join(folder, 'no', 'such', 'folder.sock')), CniSocketError);
  });

  it('leaves the socket of a successor alone', async () => {
    const path = freshPath();
    const server = await serve(path);
    rmSync(path);
    const successor = await serve(path);
    await server.close(1000);
    assert.ok(existsSync(path));
    await successor.close(1000);
  });
});
