/** Requests to a server that behaves like an agent, badly, or not at all. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { Type } from 'typebox';
import type { Clock } from '#infra/clock/clock.ts';
import { systemClock } from '#infra/clock/system.ts';
import type { ClusterNode } from '#netctl/command.ts';
import { type CredentialOptions, Credentials } from '#netctl/requests/credentials.ts';
import { NodeClient } from '#netctl/requests/node-client.ts';
import { RequestError, type RequestFailure } from '#netctl/requests/request-failure.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<ClusterNode> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return nodeAt((server.address() as AddressInfo).port);
}

function nodeAt(port: number): ClusterNode {
  return { name: 'node', id: 1, host: '127.0.0.1', port, vppAddress: undefined };
}

function client(
  given: Partial<CredentialOptions> = {},
  isHttps = false,
  timeoutMs = 300,
  clock: Clock = systemClock,
): NodeClient {
  const credentials = new Credentials({
    token: undefined,
    user: undefined,
    password: undefined,
    askPassword: async () => undefined,
    ...given,
  });
  return new NodeClient({
    port: 1,
    isHttps,
    tls: {},
    credentials,
    timeoutMs,
    clock,
    signal: new AbortController().signal,
  });
}

async function failureOf(reply: Promise<unknown>): Promise<RequestFailure> {
  const thrown = await reply.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof RequestError, String(thrown));
  return thrown.failure;
}

const get = { method: 'GET', path: 'log/list' } as const;

describe('a request to a node', () => {
  it('gets the JSON document', async () => {
    const node = await serve((request, reply) => reply.end(JSON.stringify(request.url)));
    assert.equal(await client().json(node, get, Type.Unknown()), '/log/list');
  });

  it('says that nothing listens', async () => {
    const { reason, remedy } = await failureOf(client().json(nodeAt(1), get, Type.Unknown()));
    assert.equal(reason, 'refused');
    assert.match(remedy, /kubectl/);
  });

  it('names a node of --server once', async () => {
    const named = { ...nodeAt(1), name: '127.0.0.1:1' };
    await assert.rejects(client().json(named, get, Type.Unknown()), { where: '127.0.0.1:1' });
    await assert.rejects(client().json(nodeAt(1), get, Type.Unknown()), {
      where: 'node (127.0.0.1:1)',
    });
  });

  it('does not wait for a node that accepts the connection and is silent', async () => {
    const silent = createTcpServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    closers.push(() => silent.close());
    const sockets: { destroy(): void }[] = [];
    silent.on('connection', (socket) => sockets.push(socket));
    closers.push(() => sockets.forEach((socket) => void socket.destroy()));
    const node = nodeAt((silent.address() as AddressInfo).port);
    const { reason, text } = await failureOf(client().json(node, get, Type.Unknown()));
    assert.equal(reason, 'timeout');
    assert.equal(text, 'no answer within 0.3 s');
  });

  it('waits longer for a connection, too, if the limit is longer', async () => {
    const node = await serve((_, reply) => reply.end('{}'));
    for (const timeoutMs of [10_000, 60_000]) {
      const limits: number[] = [];
      const timer: Clock['timer'] = (ms, run) => {
        limits.push(ms);
        return systemClock.timer(ms, run);
      };
      const clock: Clock = Object.assign(Object.create(systemClock), { timer });
      await client({}, false, timeoutMs, clock).json(node, get, Type.Unknown());
      assert.deepEqual(limits.slice(0, 2), [timeoutMs / 2, timeoutMs]);
    }
  });

  it('does not wait for a reply that stops in its middle', async () => {
    const node = await serve((_, reply) => {
      reply.writeHead(200, { 'content-length': '100' });
      reply.write('{');
    });
    assert.equal((await failureOf(client().json(node, get, Type.Unknown()))).reason, 'timeout');
  });

  it('says that the port serves HTTP, not HTTPS', async () => {
    const node = await serve((_, reply) => reply.end('{}'));
    const { reason, text } = await failureOf(client({}, true).json(node, get, Type.Unknown()));
    assert.equal(reason, 'tls');
    assert.equal(text, 'TLS: the port serves HTTP');
  });

  it('says what something else than an agent answers', async () => {
    const node = await serve((_, reply) => reply.end('<html>'));
    assert.equal(
      (await failureOf(client().json(node, get, Type.Unknown()))).reason,
      'invalid-reply',
    );
  });

  it('says that a server of another protocol answers', async () => {
    const other = createTcpServer((socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    closers.push(() => other.close());
    const node = nodeAt((other.address() as AddressInfo).port);
    const { reason, text } = await failureOf(client().json(node, get, Type.Unknown()));
    assert.deepEqual([reason, text], ['invalid-reply', 'the reply is not HTTP']);
  });

  it('says that a token cannot be sent', async () => {
    const node = await serve((_, reply) => reply.end('{}'));
    const { reason, text } = await failureOf(
      client({ token: 'secret\r' }).json(node, get, Type.Unknown()),
    );
    assert.equal(reason, 'unauthorized');
    assert.match(text, /line end/);
  });

  it('explains 403 with the text of the agent', async () => {
    const node = await serve((_, reply) => {
      reply.writeHead(403).end('{"Error": "use the unix socket"}');
    });
    const { reason, text, status } = await failureOf(client().json(node, get, Type.Unknown()));
    assert.deepEqual([reason, text, status], ['forbidden', 'status 403: use the unix socket', 403]);
  });

  it('says what to do without credentials', async () => {
    const node = await serve((_, reply) => {
      reply.writeHead(401, { 'www-authenticate': 'Basic' }).end('Unauthorized\n');
    });
    const { reason, remedy } = await failureOf(client().json(node, get, Type.Unknown()));
    assert.equal(reason, 'unauthorized');
    assert.match(remedy, /--user/);
  });

  it('sends user and password, which an agent with tokens exchanges for one', async () => {
    const seen: string[] = [];
    const node = await serve((request, reply) => {
      const { url, headers } = request;
      seen.push(`${url} ${headers.authorization ?? ''}`);
      if (url === '/auth/login') reply.end('the-token\n');
      else if (headers.authorization === 'Bearer the-token') reply.end('{"ok":1}');
      else reply.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    });
    const asked = client({ user: 'me', askPassword: async () => 'pw' });
    assert.deepEqual(await asked.json(node, get, Type.Unknown()), { ok: 1 });
    assert.deepEqual(await asked.json(node, get, Type.Unknown()), { ok: 1 });
    assert.deepEqual(seen, [
      `/log/list Basic ${Buffer.from('me:pw').toString('base64')}`,
      '/auth/login ',
      '/log/list Bearer the-token',
      '/log/list Bearer the-token',
    ]);
  });

  it('does not log in again and again with a wrong password', async () => {
    let requests = 0;
    const node = await serve((_, reply) => {
      requests++;
      reply.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    });
    const { reason } = await failureOf(
      client({ user: 'me', password: 'no' }).json(node, get, Type.Unknown()),
    );
    assert.equal(reason, 'unauthorized');
    assert.equal(requests, 2);
  });

  it('says that the records have no address', async () => {
    const node = { ...nodeAt(1), host: undefined };
    assert.equal((await failureOf(client().json(node, get, Type.Unknown()))).reason, 'no-address');
  });
});
