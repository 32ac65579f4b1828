import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '#infra/clock/manual.ts';
import { LinuxError, NamespaceNotFoundError } from '#linux/api.ts';
import { SimLinux } from '#simulator/linux/linux.ts';

const POD = '/proc/7/ns/net';

function simulated(): SimLinux {
  const linux = new SimLinux(seededRandom(1));
  linux.addNamespace(POD);
  return linux;
}

describe('the simulated kernel as a test double', () => {
  test('a TAP follows its holder through moves, and vanishes when it is closed', async () => {
    const linux = simulated();
    const tap = linux.openTap('tap-1');
    assert.throws(() => linux.openTap('tap-1'), LinuxError);
    await linux.moveLink({ namespace: undefined, name: 'tap-1' }, { namespace: POD, name: 'eth0' });
    assert.deepEqual([tap.name, tap.namespace, tap.running], ['eth0', POD, false]);
    await linux.setLink(POD, 'eth0', { up: true });
    tap.setCarrier(true);
    assert.equal((await linux.dump(POD)).links.find((l) => l.name === 'eth0')?.running, true);
    tap.close();
    assert.equal(tap.deleted, true);
    assert.deepEqual(
      (await linux.dump(POD)).links.map((l) => l.name),
      ['lo'],
    );
  });

  test('a namespace that ends takes a TAP along; its holder sees that it is gone', () => {
    const linux = simulated();
    const tap = linux.openTap('eth0', POD);
    let changes = 0;
    linux.onChange(() => changes++);
    linux.removeNamespace(POD);
    assert.equal(tap.deleted, true);
    assert.equal(changes, 1);
    tap.close();
  });

  test('a new namespace at an old path is another one', async () => {
    const linux = simulated();
    const before = await linux.namespaceIdentity(POD);
    linux.removeNamespace(POD);
    assert.equal(await linux.namespaceIdentity(POD), undefined);
    linux.addNamespace(POD);
    assert.notDeepEqual(await linux.namespaceIdentity(POD), before);
  });

  test('a boot changes the boot id and leaves nothing', async () => {
    const linux = simulated();
    const before = await linux.bootId();
    const nic = linux.addNic('eth0');
    linux.reboot();
    assert.notEqual(await linux.bootId(), before);
    assert.equal(nic.deleted, true);
    assert.equal((await linux.dump(undefined)).links.length, 1);
    await assert.rejects(linux.dump(POD), NamespaceNotFoundError);
  });

  test('planned faults fall on the operation that they were planned for, once', async () => {
    const linux = simulated();
    linux.faults.add(2, 'EBUSY', (operation) => operation.name === 'addAddress');
    await linux.addAddress(POD, 'lo', '10.1.1.1/32');
    await linux.setLink(POD, 'lo', { up: true });
    await assert.rejects(
      linux.addAddress(POD, 'lo', '10.1.1.2/32'),
      (error: unknown) => error instanceof LinuxError && error.errno === 'EBUSY',
    );
    await linux.addAddress(POD, 'lo', '10.1.1.2/32');
    assert.deepEqual(
      linux.operations.map((operation) => operation.name),
      ['addAddress', 'setLink', 'addAddress', 'addAddress'],
    );
  });

  test('the hook stops the world before or after an operation', async () => {
    const linux = simulated();
    const crash = new Error('the agent ends here');
    let when: 'before' | 'after' = 'before';
    linux.onOperation = (at) => {
      if (at === when) throw crash;
    };
    await assert.rejects(linux.addAddress(POD, 'lo', '10.1.1.1/32'), crash);
    when = 'after';
    await assert.rejects(linux.addAddress(POD, 'lo', '10.1.1.2/32'), crash);
    linux.onOperation = undefined;
    assert.deepEqual((await linux.dump(POD)).links[0]?.addresses, ['10.1.1.2/32']);
  });
});
