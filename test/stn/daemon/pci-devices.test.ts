import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { type PciDevices, PciDriverError, sysfsPciDevices } from '#stn/daemon/pci-devices.ts';
import { FakeSysfs } from './fake-sysfs.ts';

const ADDRESS = '0000:0b:00.0';
const VIRTIO = '0000:00:03.0';

describe('PCI devices in sysfs', () => {
  let sysfs: FakeSysfs;
  let pci: PciDevices;
  beforeEach(() => {
    sysfs = new FakeSysfs();
    for (const driver of ['e1000e', 'virtio-pci', 'vfio-pci']) sysfs.load(driver);
    sysfs.add({ address: ADDRESS, driver: 'e1000e', link: 'eth0' });
    sysfs.add({ address: VIRTIO, virtio: 'virtio2', driver: 'virtio-pci', link: 'eth1' });
    sysfs.start();
    pci = sysfsPciDevices(systemClock, sysfs.root);
  });
  afterEach(() => sysfs.close());

  it('are found by the link, with the driver of the PCI device', () => {
    assert.deepEqual(pci.deviceOf('eth0'), { address: ADDRESS, driver: 'e1000e' });
    assert.deepEqual(pci.deviceOf('eth1'), { address: VIRTIO, driver: 'virtio-pci' });
    assert.deepEqual(pci.linksOf(ADDRESS), ['eth0']);
    assert.deepEqual(pci.linksOf(VIRTIO), ['eth1']);
  });

  it('are not those of links on other buses, nor of links without a device', () => {
    const usb = join(sysfs.root, 'devices/pci0000:00', ADDRESS, 'usb1/1-1:1.0');
    mkdirSync(usb, { recursive: true });
    for (const name of ['usb0', 'veth0']) mkdirSync(join(sysfs.root, 'class/net', name));
    symlinkSync(usb, join(sysfs.root, 'class/net/usb0/device'));
    assert.equal(pci.deviceOf('usb0'), undefined);
    assert.equal(pci.deviceOf('veth0'), undefined);
    assert.equal(pci.deviceOf('none'), undefined);
  });

  it('are unbound once, and bound to another driver and back', async () => {
    await pci.unbind(ADDRESS);
    assert.equal(pci.driverOf(ADDRESS), undefined);
    await pci.unbind(ADDRESS);
    await pci.bind(ADDRESS, 'vfio-pci');
    assert.equal(pci.driverOf(ADDRESS), 'vfio-pci');
    assert.deepEqual(pci.linksOf(ADDRESS), []);
    await pci.bind(ADDRESS, 'e1000e');
    await pci.bind(ADDRESS, 'e1000e');
    assert.deepEqual(sysfs.writes, [
      `e1000e/unbind ${ADDRESS}`,
      `vfio-pci/bind ${ADDRESS}`,
      `vfio-pci/unbind ${ADDRESS}`,
      `e1000e/bind ${ADDRESS}`,
    ]);
    assert.deepEqual(pci.linksOf(ADDRESS), ['eth0']);
  });

  it('report a driver that is not loaded', async () => {
    await assert.rejects(pci.bind(ADDRESS, 'igb'), /0000:0b:00\.0: the driver igb is not loaded/);
    assert.equal(pci.driverOf(ADDRESS), 'e1000e');
  });

  it('report what cannot be written, and never make a file', async () => {
    const path = join(sysfs.root, 'bus/pci/drivers/e1000e/unbind');
    sysfs.close();
    sysfs = new FakeSysfs();
    sysfs.load('e1000e');
    sysfs.add({ address: ADDRESS, driver: 'e1000e', link: 'eth0' });
    pci = sysfsPciDevices(systemClock, sysfs.root);
    rmSync(join(sysfs.root, 'bus/pci/drivers/e1000e/unbind'));
    await assert.rejects(pci.unbind(ADDRESS), (error) => {
      assert.ok(error instanceof PciDriverError);
      assert.match(error.message, /^0000:0b:00\.0: cannot write .*\/unbind: ENOENT/);
      return true;
    });
    assert.equal(existsSync(path), false);
  });

  it('report a driver that does not let the device go', async () => {
    const stuck = new FakeSysfs();
    stuck.load('e1000e');
    stuck.add({ address: ADDRESS, driver: 'e1000e', link: 'eth0' });
    const clock = new ManualClock();
    const failed = assert.rejects(
      sysfsPciDevices(clock, stuck.root).unbind(ADDRESS),
      /the driver is e1000e instead of none/,
    );
    for (let step = 0; step < 60; step++) {
      await systemClock.sleep(5);
      await clock.advance(50);
    }
    await failed;
    stuck.close();
  });
});
