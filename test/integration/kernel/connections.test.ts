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

describe('connections of a namespace', { skip: withoutKernel() }, () => {
  const host = kernelHost({ clock: systemClock });
  let netns: Netns;
  before(async () => {
    netns = await Netns.create('connections');
  });
  after(() => netns?.remove());

  it('have both ends, and are opened by the end at whose port no process listens', async () => {
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
