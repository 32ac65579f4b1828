import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Machine } from '#linux/kernel/machine.ts';
import {
  HostNotReadyError,
  type HostRequirements,
  prepareHost,
} from '#linux/kernel/prepare-host.ts';

const CONF = '/proc/sys/net/ipv6/conf';

/** A machine in memory on which all is well until a test spoils it. */
class FakeMachine implements Machine {
  readonly files = new Map<string, string>([
    ['/proc/self/status', 'Name:\tnode\nCapEff:\t000001ffffffffff\nThreads:\t1\n'],
    ['/proc/sys/net/ipv4/ip_forward', '0\n'],
    [`${CONF}/all/disable_ipv6`, '0\n'],
    [`${CONF}/all/forwarding`, '0\n'],
    [`${CONF}/all/accept_ra`, '1\n'],
    [`${CONF}/eth0/accept_ra`, '1\n'],
    [`${CONF}/eth1/accept_ra`, '0\n'],
  ]);
  readonly devices = new Set(['/dev/net/tun', '/dev/vhost-net']);
  /** Module to the device that it brings. */
  readonly modules = new Map<string, string>();
  readonly written: string[] = [];
  readOnly = false;

  async read(path: string) {
    return this.files.get(path);
  }

  async write(path: string, text: string) {
    if (this.readOnly) throw Object.assign(new Error('read-only'), { code: 'EROFS' });
    this.written.push(path);
    this.files.set(path, `${text}\n`);
  }

  async list(path: string) {
    const below = [...this.files.keys()].filter((file) => file.startsWith(`${path}/`));
    return [...new Set(below.map((file) => file.slice(path.length + 1).split('/')[0]!))];
  }

  async isDevice(path: string) {
    return this.devices.has(path);
  }

  async loadModule(name: string) {
    const device = this.modules.get(name);
    if (device !== undefined) this.devices.add(device);
  }
}

const tap4: HostRequirements = { tap: true, families: [4] };

const lacks = (text: RegExp) => (error: Error) => {
  assert.ok(error instanceof HostNotReadyError);
  assert.match(error.message, text);
  return true;
};

describe('a host is made ready for pods', () => {
  it('by letting it forward, once', async () => {
    const machine = new FakeMachine();
    assert.deepEqual(await prepareHost(machine, tap4), { ipv6: true });
    assert.deepEqual(machine.written, ['/proc/sys/net/ipv4/ip_forward']);
    await prepareHost(machine, tap4);
    assert.equal(machine.written.length, 1);
  });

  it('of IPv6, without losing the routers that it listens to', async () => {
    const machine = new FakeMachine();
    await prepareHost(machine, { tap: false, families: [6] });
    assert.deepEqual(machine.written, [
      `${CONF}/all/accept_ra`,
      `${CONF}/eth0/accept_ra`,
      `${CONF}/all/forwarding`,
    ]);
    assert.equal(machine.files.get(`${CONF}/eth0/accept_ra`), '2\n');
    assert.equal(machine.files.get(`${CONF}/eth1/accept_ra`), '0\n');
  });

  it('with modules that bring a device', async () => {
    const machine = new FakeMachine();
    machine.devices.delete('/dev/vhost-net');
    machine.modules.set('vhost_net', '/dev/vhost-net');
    await prepareHost(machine, tap4);
  });

  it('whose kernel has the devices although they are not seen here', async () => {
    const machine = new FakeMachine();
    machine.devices.clear();
    machine.files.set('/proc/misc', '238 vhost-net\n200 tun\n 59 cpu_dma_latency\n');
    await prepareHost(machine, tap4);
    machine.files.set('/proc/misc', '200 tun\n137 vhci\n');
    await assert.rejects(prepareHost(machine, tap4), lacks(/lacks \/dev\/vhost-net /));
  });

  it('or is refused with all that is missing in one text', async () => {
    const machine = new FakeMachine();
    machine.files.set('/proc/self/status', 'CapEff:\t0000000000001000\n');
    machine.devices.clear();
    machine.readOnly = true;
    await assert.rejects(
      prepareHost(machine, tap4),
      lacks(
        /lacks the capability CAP_SYS_ADMIN; \/dev\/net\/tun .*; \/dev\/vhost-net .*useTAPInterfaces: false\); .*ip_forward = 1 \(it is 0 and cannot be set: EROFS\)$/,
      ),
    );
  });

  it('where /proc is read-only with the right values in it', async () => {
    const machine = new FakeMachine();
    machine.files.set('/proc/sys/net/ipv4/ip_forward', '1\n');
    machine.readOnly = true;
    await prepareHost(machine, tap4);
  });

  it('without TAP devices where VETH is asked for', async () => {
    const machine = new FakeMachine();
    machine.devices.clear();
    await prepareHost(machine, { tap: false, families: [4] });
  });

  it('whose kernel has no IPv6, for pods of IPv4 alone', async () => {
    const machine = new FakeMachine();
    for (const path of [...machine.files.keys()])
      if (path.startsWith(CONF)) machine.files.delete(path);
    assert.deepEqual(await prepareHost(machine, tap4), { ipv6: false });
    await assert.rejects(
      prepareHost(machine, { tap: true, families: [6] }),
      lacks(/lacks IPv6 in the kernel, which the pods are configured for$/),
    );
  });
});
