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
  test('a TAP handle stays valid through moves, and closing it deletes the TAP', async () => {
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

  test('deleting a namespace deletes its TAPs, and their handles show it', () => {
    const linux = simulated();
    const tap = linux.openTap('eth0', POD);
    let changes = 0;
    linux.onChange(() => changes++);
    linux.removeNamespace(POD);
    assert.equal(tap.deleted, true);
    assert.equal(changes, 1);
    tap.close();
  });

  test('a new namespace at an old path has another identity', async () => {
    const linux = simulated();
    const before = await linux.namespaceIdentity(POD);
    linux.removeNamespace(POD);
    assert.equal(await linux.namespaceIdentity(POD), undefined);
    linux.addNamespace(POD);
    assert.notDeepEqual(await linux.namespaceIdentity(POD), before);
  });

  test('a reboot changes the boot ID and deletes all state', async () => {
    const linux = simulated();
    const before = await linux.bootId();
    const nic = linux.addNic('eth0');
    linux.reboot();
    assert.notEqual(await linux.bootId(), before);
    assert.equal(nic.deleted, true);
    assert.equal((await linux.dump(undefined)).links.length, 1);
    await assert.rejects(linux.dump(POD), NamespaceNotFoundError);
  });

  test('an injected fault affects exactly the operation that it was planned for', async () => {
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

  test('the hook can fail an operation before or after its execution', async () => {
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
