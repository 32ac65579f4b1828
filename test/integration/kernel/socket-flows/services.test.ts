/** Connections to services that the kernel translates: programs of both at one control group. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import type { ConnectionEvent, FlowSource } from '#linux/socket-flows/api.ts';
import { openFlowSource } from '#linux/socket-flows/open.ts';
import type { SocketTable } from '#linux/socket-services/api.ts';
import { withoutSocketHooks } from '#test/support/requirements.ts';
import { type SocketClient, SocketMachine } from '../socket-services/machine.ts';

const families = [
  { service: { address: '10.96.0.10', port: 80 }, backend: { address: '10.1.1.1', port: 8080 } },
  { service: { address: 'fd96::10', port: 80 }, backend: { address: 'fd00::1', port: 8080 } },
] as const;

describe('connections to services of the kernel', { skip: withoutSocketHooks() }, () => {
  let machine: SocketMachine;
  let client: SocketClient;
  let table: SocketTable;
  let source: FlowSource;

  const open = (): FlowSource =>
    openFlowSource(machine.sysFs, {
      hostNamespace: undefined,
      connections: kernelHost({ clock: systemClock }),
      clock: systemClock,
    });
  const fill = (): Promise<void> =>
    table.put({
      name: 'shop/web',
      mappings: families.map(({ service, backend }) => ({
        frontends: (['TCP', 'UDP'] as const).map((protocol) => ({
          ...service,
          protocol,
          scope: 'ADDRESS',
        })),
        backends: [{ ...backend, weight: 1 }],
        affinityTimeout: 0,
        hostSource: '',
      })),
    });

  before(async () => {
    machine = new SocketMachine();
    client = await machine.client();
    for (const { backend } of families) {
      await client.addAddress(`${backend.address}/${backend.address.includes(':') ? 128 : 32}`);
      await client.serve(backend);
    }
    table = machine.table();
    await fill();
    source = open();
  });
  after(async () => {
    source?.remove();
    await machine?.close();
  });

  async function eventsOf(to: { address: string; port: number }): Promise<ConnectionEvent[]> {
    const { server } = await client.request({ kind: 'connect', to });
    assert.ok(server, 'no answer');
    const found: ConnectionEvent[] = [];
    for (let tries = 0; tries < 100; tries++) {
      while (source.read((event) => found.push(event), 1000));
      const own = found.filter(({ protocol }) => protocol === 'TCP');
      if (own.filter(({ kind }) => kind === 'ended').length === 2) return own;
      await systemClock.sleep(20);
    }
    throw new Error(`got ${JSON.stringify(found)}`);
  }

  async function assertNamed(): Promise<void> {
    for (const { service, backend } of families) {
      const found = await eventsOf(service);
      const seen = found.map(({ side, remote, service: asked }) =>
        side === 'client' ? [side, remote, asked] : [side, asked],
      );
      assert.equal(seen.length, 4);
      for (const one of seen)
        assert.deepEqual(
          one,
          one[0] === 'client' ? ['client', backend, service] : ['server', undefined],
        );
      // the next connection of the process has no service
      const direct = await eventsOf(backend);
      assert.ok(direct.every(({ service: asked }) => asked === undefined));
    }
  }

  for (const kind of ['send', 'send-connected'] as const)
    test(`name the service of datagrams (${kind})`, async () => {
      for (const { service, backend } of families) {
        source.remove();
        source = open();
        const family = service.address.includes(':') ? 6 : 4;
        const socket = `${kind}-${family}`;
        const { server } = await client.request({ kind, socket, to: service, family });
        assert.ok(server, 'no answer');
        const found: ConnectionEvent[] = [];
        while (source.read((event) => found.push(event), 1000));
        assert.deepEqual(
          found.map(({ kind: seen, side, service: asked }) => [seen, side, asked]),
          [
            ['begun', 'client', service],
            ['begun', 'server', undefined],
            ['opened', 'server', undefined],
            ['opened', 'client', service],
          ],
        );
        for (const { side, remote } of found)
          if (side === 'client') assert.deepEqual(remote, backend);
      }
    });

  test('name the service at the end of the client, in both families', () => assertNamed());

  test('and after each of the two agents’ parts was started again, in any order', async () => {
    source = open();
    await assertNamed();
    table = machine.table();
    await fill();
    await assertNamed();
    source = open();
    await assertNamed();
  });

  test('and when services are installed after flows', async () => {
    source.remove();
    await table.remove();
    source = open();
    table = machine.table();
    await fill();
    // the agent that follows sees both, as each does that opens services first
    source = open();
    await assertNamed();
  });
});
