import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Client, credentials, status } from '@grpc/grpc-js';
import { systemClock } from '#infra/clock/system.ts';
import { parseConfig } from '#infra/config/load.ts';
import { grpc2Schema, grpcSchema } from '#infra/grpc/config.ts';
import type { GrpcService } from '#infra/grpc/connection-server.ts';
import { GrpcListenError, grpcConfigCheck, wireGrpcServer } from '#infra/grpc/wire-grpc-server.ts';
import { silentLogger } from '#infra/log/log.ts';
import { makeCertificate } from '#test/support/certificates.ts';
import { withoutOpenssl } from '#test/support/requirements.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';

const same = (bytes: Buffer) => bytes;

/** A service with one method, which returns its request. */
function echo(name: string): GrpcService {
  const Echo = {
    path: `/test.${name}/Echo`,
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
  const answer = (call: { request: Buffer }, callback: (error: null, reply: Buffer) => void) =>
    callback(null, call.request);
  return { definition: { Echo }, implementation: { Echo: answer } };
}

const configOf = (text: string) => parseConfig(grpc2Schema, text, 'grpc2.conf').value;

async function serve(text: string) {
  const config = configOf(text);
  const services = [echo('One'), echo('Two')];
  const server = wireGrpcServer({ config, services, clock: systemClock, log: silentLogger });
  await server.component.afterInit?.();
  const close = async () => server.component.close?.();
  return { port: server.port!, [Symbol.asyncDispose]: close };
}

/** The status of a call. */
function call(port: number, name: string, channel = credentials.createInsecure()): Promise<number> {
  const client = new Client(`localhost:${port}`, channel);
  const deadline = Date.now() + 10_000;
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      `/test.${name}/Echo`,
      same,
      same,
      Buffer.from('x'),
      { deadline },
      (error) => {
        client.close();
        resolve(error?.code ?? status.OK);
      },
    );
  });
}

describe('the server of grpc2.conf', () => {
  it('has the services of several components', async () => {
    await using server = await serve('endpoint: 127.0.0.1:0');
    assert.equal(await call(server.port, 'One'), status.OK);
    assert.equal(await call(server.port, 'Two'), status.OK);
    assert.equal(await call(server.port, 'Three'), status.UNIMPLEMENTED);
  });

  it('says which port another process has', async () => {
    await using server = await serve('endpoint: 127.0.0.1:0');
    await assert.rejects(serve(`endpoint: 127.0.0.1:${server.port}`), (error) => {
      assert.ok(error instanceof GrpcListenError);
      assert.match(error.message, new RegExp(`127.0.0.1:${server.port}.*EADDRINUSE`));
      return true;
    });
  });

  it('needs a certificate of its clients where it is configured', {
    skip: withoutOpenssl(),
  }, async () => {
    const folder = temporaryFolder('grpc2');
    for (const name of ['authority', 'agent', 'client']) makeCertificate(folder, name, 'authority');
    makeCertificate(folder, 'stranger', 'stranger');
    const path = (file: string) => join(folder, file);
    const file = (name: string) => readFileSync(path(name));
    await using server = await serve(
      [
        'endpoint: 0.0.0.0:0',
        `cert-file: ${path('agent.crt')}`,
        `key-file: ${path('agent.key')}`,
        `ca-files: [${path('authority.crt')}]`,
      ].join('\n'),
    );
    const as = (name: string) =>
      credentials.createSsl(file('authority.crt'), file(`${name}.key`), file(`${name}.crt`));
    assert.equal(await call(server.port, 'One', as('client')), status.OK);
    for (const refused of [
      as('stranger'),
      credentials.createSsl(file('authority.crt')),
      credentials.createInsecure(),
    ])
      assert.notEqual(await call(server.port, 'One', refused), status.OK);
  });
});

describe('the check of grpc.conf and grpc2.conf', () => {
  const check = (grpc: string, grpc2?: string): void => {
    const config = parseConfig(grpcSchema, grpc, 'grpc.conf').value;
    void grpcConfigCheck(config, grpc2 === undefined ? undefined : configOf(grpc2)).init?.();
  };

  it('accepts the defaults, and an address that will be replaced', () => {
    check('');
    check('', 'endpoint: 0.0.0.0:9111');
  });

  it('rejects what the servers could not use', () => {
    assert.throws(() => check('endpoint: cni.sock'), /has to be an absolute path/);
    assert.throws(() => check('{network: tcp, endpoint: ":9112"}'), /requires cert-file/);
    assert.throws(() => check('', 'endpoint: /run/grpc.sock'), /has to be address:port/);
    assert.throws(() => check('', 'cert-file: /etc/agent.crt'), /must both be set for TLS/);
    assert.throws(
      () => check('', '{cert-file: /nonexistent, key-file: /nonexistent}'),
      /\/nonexistent: cannot be read/,
    );
  });
});
