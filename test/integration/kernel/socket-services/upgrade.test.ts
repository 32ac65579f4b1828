/** An agent whose maps have another layout than those of the programs that it finds. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { SocketService } from '#linux/socket-services/api.ts';
import { removeSocketTable } from '#linux/socket-services/open.ts';
import { withoutSocketHooks } from '#test/support/requirements.ts';
import { ownLayout } from '../../support/socket-files.ts';
import { type SocketClient, SocketMachine } from './machine.ts';

const VIP = '10.96.0.10';
const OLD = '127.0.0.2';
const NEW = '127.0.0.3';
const own = [ownLayout];

function web(backend: string): SocketService {
  return {
    name: 'default/web',
    mappings: [
      {
        frontends: [{ address: VIP, port: 80, protocol: 'TCP', scope: 'ADDRESS' }],
        backends: [{ address: backend, port: 8080, weight: 1 }],
        affinityTimeout: 0,
        hostSource: '',
      },
    ],
  };
}

describe('an upgrade of the layout', { skip: withoutSocketHooks() }, () => {
  let machine: SocketMachine;
  let client: SocketClient;

  before(async () => {
    machine = new SocketMachine();
    client = await machine.client();
    await client.serve(...[OLD, NEW].map((address) => ({ address, port: 8080 })));
  });
  after(() => machine.close());
  beforeEach(() => machine.table().put(web(OLD)));
  afterEach(() => removeSocketTable(machine.sysFs));

  const connect = () => client.request({ kind: 'connect', to: { address: VIP, port: 80 } });

  async function assertReached(backend: string): Promise<void> {
    assert.deepEqual(await connect(), { server: `${backend} 8080`, peer: `${VIP} 80` });
  }

  for (const [found, become] of [
    ['maps of another layout', () => machine.files.becomeOtherLayout()],
    ['maps of another shape', () => machine.files.becomeOtherShape()],
    ['no maps', () => machine.files.loseMaps()],
  ] as const)
    test(`programs with ${found} translate until the table is filled`, async () => {
      become();
      const table = machine.table();
      assert.deepEqual(await table.services(), []);
      await assertReached(OLD);
      await table.put(web(NEW));
      await assertReached(OLD);
      await table.resynced();
      await assertReached(NEW);
      assert.deepEqual(machine.files.layouts(), own);
      await table.put(web(OLD));
      await table.resynced();
      await assertReached(OLD);
    });

  test('no connection fails while the table is filled and the programs are replaced, again and again', async () => {
    let isOver = false;
    const upgrade = (async () => {
      for (let round = 0; round < 12; round++) {
        machine.files.becomeOtherLayout();
        const table = machine.table();
        for (const backend of [OLD, NEW]) {
          await table.put(web(backend));
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        await table.resynced();
      }
    })().finally(() => {
      isOver = true;
    });
    let connections = 0;
    for (; !isOver; connections++) {
      const { server, error } = await connect();
      assert.ok([`${OLD} 8080`, `${NEW} 8080`].includes(server!), `${server} ${error}`);
    }
    await upgrade;
    assert.ok(connections > 12, `${connections} connections`);
  });

  test('an agent that ends before continues where it was', async () => {
    machine.files.becomeOtherLayout();
    await machine.table().put(web(NEW));
    const table = machine.table();
    await assertReached(OLD);
    assert.deepEqual(await table.services(), [web(NEW)]);
    await table.resynced();
    await assertReached(NEW);
  });

  test('an agent that ends while it replaces the programs leaves that to the next one', async () => {
    machine.files.becomeOtherLayout();
    await machine.table().put(web(NEW));
    machine.files.nameNewMaps();
    machine.table();
    await assertReached(NEW);
    assert.deepEqual(machine.files.layouts(), own);
  });

  test('a replacement that failed is repeated', async () => {
    machine.files.becomeOtherLayout();
    const table = machine.table();
    await table.put(web(NEW));
    machine.files.spoilLink();
    await assert.rejects(table.resynced());
    machine.files.repairLink();
    await table.resynced();
    await assertReached(NEW);
    assert.deepEqual(machine.files.layouts(), own);
  });

  test('without programs the table is used at once', async () => {
    removeSocketTable(machine.sysFs);
    await machine.table().put(web(NEW));
    await assertReached(NEW);
  });
});
