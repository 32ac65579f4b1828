/** Programs and maps that another process removes from the bpf file system while the agent runs. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { SocketTable } from '#linux/socket-services/api.ts';
import { withoutSocketHooks } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { type SocketClient, SocketMachine } from './machine.ts';

const VIP = '10.96.0.10';
const BACKEND = { address: '127.0.0.2', port: 8080 } as const;

describe('lost parts of services at sockets', { skip: withoutSocketHooks() }, () => {
  let machine: SocketMachine;
  let table: SocketTable;
  let client: SocketClient;

  before(async () => {
    machine = new SocketMachine();
    table = machine.table();
    client = await machine.client();
    await client.serve(BACKEND);
    await put(table, VIP);
  });
  after(() => machine.close());

  const lost = () => table.lostParts();
  const isServed = async (address = VIP): Promise<boolean> => {
    const to = { address, port: 80 };
    const { server } = await client.request({ kind: 'connect', to });
    return server === `${BACKEND.address} ${BACKEND.port}`;
  };

  test('none are lost at first', async () => {
    assert.deepEqual(lost(), []);
    assert.ok(await isServed());
  });

  test('a program whose file was removed is named, and runs again', async () => {
    machine.files.loseProgram('connect4');
    assert.deepEqual(lost(), ['no program runs at connect4']);
    await until('the kernel has ended the program', async () => !(await isServed()));
    await table.restore();
    assert.deepEqual(lost(), []);
    assert.ok(await isServed());
  });

  test('files that cannot be opened are named, and the table changes nevertheless', async () => {
    machine.setBpfReadOnly(true);
    try {
      assert.match(lost().join(), /^files of programs cannot be opened: .*EROFS/);
      await assert.rejects(table.restore(), { errno: 'EROFS' });
      await put(table, '10.96.0.11');
      assert.ok(await isServed('10.96.0.11'));
    } finally {
      machine.setBpfReadOnly(false);
    }
    assert.deepEqual(lost(), []);
    await put(table, VIP);
    assert.ok(await isServed());
  });

  test('so do all after the file system was mounted again, with the maps, which the next agent finds', async () => {
    machine.remountBpf();
    assert.match(lost().join(), /no program runs at connect4.*files of maps are missing/);
    await table.restore();
    assert.deepEqual(lost(), []);
    assert.ok(await isServed());
    const next = machine.table();
    assert.deepEqual(
      (await next.services()).map(({ name }) => name),
      ['default/web'],
    );
    await put(next, '10.96.0.11');
    assert.ok(await isServed('10.96.0.11'));
    assert.ok(!(await isServed(VIP)));
  });
});

async function put(table: SocketTable, address: string): Promise<void> {
  const frontends = [{ address, port: 80, protocol: 'TCP', scope: 'ADDRESS' }] as const;
  const mapping = { frontends, backends: [{ ...BACKEND, weight: 1 }], affinityTimeout: 0 };
  await table.put({ name: 'default/web', mappings: [{ ...mapping, hostSource: '' }] });
}
