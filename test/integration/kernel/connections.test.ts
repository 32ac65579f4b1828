/** Connections of TCP, as the kernel lists the sockets of a namespace. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { NamespaceNotFoundError } from '#linux/api.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import { withoutKernel } from '#test/support/requirements.ts';
import { Netns } from '../support/netns.ts';

/** Listens at both families, connects over each, and prints the local ports of the clients. */
const PROGRAM = `
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
const server = createServer().listen(8080, '::');
await once(server, 'listening');
const ports = [];
for (const host of ['127.0.0.1', '::1']) {
  const socket = connect(8080, host);
  await once(socket, 'connect');
  ports.push(socket.localPort);
}
console.log(JSON.stringify(ports));
`;

/**
 * A client listens at the port from which it has connected, servers do no more. One client has closed its direction,
 * another sends more than the server takes in. Prints the local ports of the clients and of the servers.
 */
const PRETENDER = `
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
const ports = [[], []];
async function pair(localPort) {
  const listener = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address();
  const client = connect({ port, host: '127.0.0.1', localPort, allowHalfOpen: true });
  const [[server]] = await Promise.all([once(listener, 'connection'), once(client, 'connect')]);
  listener.close();
  ports[0].push(client.localPort);
  ports[1].push(port);
  for (const one of [client, server]) await new Promise((sent) => one.write('x'.repeat(3000), sent));
  return { client, server };
}
await pair(40_000);
createServer().listen(40_000, '127.0.0.1');
const half = await pair();
half.client.end();
const slow = await pair();
slow.client.write('x'.repeat(10_000_000));
slow.server.end();
setTimeout(() => console.log(JSON.stringify(ports)), 200);
setTimeout(() => undefined, 60_000);
`;

describe('connections of a namespace', { skip: withoutKernel() }, () => {
  const host = kernelHost({ clock: systemClock });
  let netns: Netns;
  before(async () => {
    netns = await Netns.create('connections');
  });
  after(() => netns?.remove());

  it('were opened by the end that was not asked, wherever processes listen', async () => {
    const [program = '', ...enter] = netns.enter;
    const command = [...enter, process.execPath, '--input-type=module', '--eval', PRETENDER];
    const child = spawn(program, command, { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [line] = await once(createInterface({ input: child.stdout }), 'line');
      const [clients, servers] = JSON.parse(String(line)) as [number[], number[]];
      const found = await host.connections(netns.path);
      const openers = new Map(found.map(({ local, openedBy }) => [local.port, openedBy]));
      const openersOf = (ports: readonly number[]) => ports.map((port) => openers.get(port));
      assert.deepEqual(openersOf(clients), ['local', 'local', 'local']);
      assert.deepEqual(openersOf(servers), ['remote', 'remote', 'remote']);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });

  it('have both ends, of either family', async () => {
    assert.deepEqual(await host.connections(netns.path), []);
    const [program = '', ...enter] = netns.enter;
    const command = [...enter, process.execPath, '--input-type=module', '--eval', PROGRAM];
    const child = spawn(program, command, { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [line] = await once(createInterface({ input: child.stdout }), 'line');
      const [v4, v6] = JSON.parse(String(line)) as [number, number];
      const found = await host.connections(netns.path);
      const texts = found.map(
        ({ local, remote, openedBy }) =>
          `${local.address} ${local.port} ${remote.address} ${remote.port} ${openedBy}`,
      );
      assert.deepEqual(
        texts.sort(),
        [
          `127.0.0.1 ${v4} 127.0.0.1 8080 local`,
          `127.0.0.1 8080 127.0.0.1 ${v4} remote`,
          `::1 ${v6} ::1 8080 local`,
          `::1 8080 ::1 ${v6} remote`,
        ].sort(),
      );
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });

  it('are unknown of a namespace that does not exist', async () => {
    await assert.rejects(host.connections('/run/netns/missing'), NamespaceNotFoundError);
  });
});
