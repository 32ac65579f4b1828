/** Every call of the CNI service, tried without, with wrong and with right credentials. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  type ChannelCredentials,
  Client,
  credentials,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { systemClock } from '#infra/clock/system.ts';
import { parseConfig } from '#infra/config/load.ts';
import { grpcSchema } from '#infra/grpc/config.ts';
import { grpcAddress, grpcLimits, grpcTls } from '#infra/grpc/endpoint.ts';
import { silentLogger } from '#infra/log/log.ts';
import { CNIReply, StatusReply } from '#models/cni/cni.gen.ts';
import { messageCodec } from '#models/message.ts';
import type { CniService } from '#plugins/podmanager/cni-service.ts';
import { type CniServer, serveCni } from '#plugins/podmanager/cni-socket.ts';
import { cniServiceDefinition } from '#plugins/podmanager/grpc-server.ts';
import { makeCertificate } from '#test/support/certificates.ts';
import { withoutOpenssl } from '#test/support/requirements.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';

const folder = temporaryFolder('cni-access');
const file = (name: string) => join(folder, name);
const replies = messageCodec(CNIReply);

/** Calls that were let in. */
const calls: string[] = [];
const recorded = (name: string) => async () => {
  calls.push(name);
  return replies.canonical({});
};
const service: CniService = {
  add: recorded('Add'),
  delete: recorded('Delete'),
  check: recorded('Check'),
  gc: recorded('GC'),
  status: async () => {
    calls.push('Status');
    return messageCodec(StatusReply).canonical({ ready: true });
  },
};

async function serve(text: string): Promise<CniServer> {
  const config = parseConfig(grpcSchema, text, 'grpc.conf').value;
  return serveCni({
    ...grpcAddress(config),
    tls: grpcTls(config),
    limits: grpcLimits(config),
    service,
    clock: systemClock,
    log: silentLogger,
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** Result of each call: `OK`, or the name of the status. */
async function tried(
  target: string,
  given: ChannelCredentials,
  body = Buffer.alloc(0),
): Promise<string[]> {
  const client = new Client(target, given, { 'grpc.ssl_target_name_override': 'localhost' });
  const results = Object.values(cniServiceDefinition).map(
    ({ path }) =>
      new Promise<string>((resolve) =>
        client.makeUnaryRequest(
          path,
          (bytes: Buffer) => bytes,
          (bytes: Buffer) => bytes,
          body,
          { deadline: Date.now() + 10_000 },
          (error: ServiceError | null) => resolve(error ? status[error.code] : 'OK'),
        ),
      ),
  );
  const all = await Promise.all(results);
  client.close();
  return all;
}

const each = (result: string) => Object.keys(cniServiceDefinition).map(() => result);

describe('a CNI server with client certificates', { skip: withoutOpenssl() }, () => {
  let server: CniServer;
  let port = 0;
  before(async () => {
    for (const name of ['ca', 'server', 'client']) makeCertificate(folder, name, 'ca');
    makeCertificate(folder, 'other', 'other');
    port = await freePort();
    server = await serve(
      `network: tcp\nendpoint: 127.0.0.1:${port}\ncert-file: ${file('server.crt')}\n` +
        `key-file: ${file('server.key')}\nca-files: [${file('ca.crt')}]\nmax-msg-size: 4096`,
    );
  });
  after(() => server?.close(0));

  const read = (name: string) => readFileSync(file(name));
  const tls = (name?: string) =>
    name === undefined
      ? credentials.createSsl(read('ca.crt'))
      : credentials.createSsl(read('ca.crt'), read(`${name}.key`), read(`${name}.crt`));

  it('lets in only clients with a certificate of the authority', async () => {
    const target = `127.0.0.1:${port}`;
    for (const wrong of [credentials.createInsecure(), tls(), tls('other')])
      assert.deepEqual(await tried(target, wrong), each('UNAVAILABLE'));
    assert.deepEqual(calls, []);
    assert.deepEqual(await tried(target, tls('client')), each('OK'));
    assert.deepEqual(calls.splice(0).sort(), Object.keys(cniServiceDefinition).sort());
  });

  it('refuses requests that are too large', async () => {
    const large = await tried(`127.0.0.1:${port}`, tls('client'), Buffer.alloc(4_097));
    assert.deepEqual(large, each('RESOURCE_EXHAUSTED'));
    assert.deepEqual(calls, []);
  });
});

describe('a CNI server on a port of the loopback interface', () => {
  it('makes no socket with the name of its address', async () => {
    const port = await freePort();
    const endpoint = `127.0.0.1:${port}`;
    const server = await serve(`network: tcp\nendpoint: ${endpoint}`);
    assert.ok(!existsSync(endpoint));
    assert.deepEqual(await tried(endpoint, credentials.createInsecure()), each('OK'));
    calls.splice(0);
    await server.close(0);
  });
});

const notRoot = process.getuid?.() !== 0 && 'needs root, to connect as another user';

describe('the unix socket of the CNI server', { skip: notRoot }, () => {
  it('lets in only the users that its mode permits', async () => {
    // so that the path itself is no obstacle
    chmodSync(folder, 0o755);
    for (const [permission, result] of [
      [700, 'EACCES'],
      [777, 'connected'],
    ] as const) {
      const path = file(`${permission}.sock`);
      const server = await serve(`endpoint: ${path}\npermission: ${permission}`);
      assert.deepEqual(await tried(`unix:${path}`, credentials.createInsecure()), each('OK'));
      const script =
        "const s = require('node:net').connect(process.argv[1]);" +
        "s.on('connect', () => { console.log('connected'); s.destroy(); });" +
        "s.on('error', (error) => console.log(error.code));";
      // of another user, who can read nothing else of this machine's
      const child = spawn(process.execPath, ['-e', script, path], { uid: 65_534, gid: 65_534 });
      let text = '';
      child.stdout.on('data', (piece) => {
        text += piece;
      });
      await once(child, 'close');
      assert.equal(text.trim(), result);
      await server.close(0);
    }
  });
});
