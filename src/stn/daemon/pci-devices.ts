/** PCI devices and their drivers in sysfs. Needs a writable /sys. */
import { constants, existsSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '#infra/clock/clock.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';

export const PciDriverError = defineError({
  name: 'PciDriverError',
  code: 'CV_STN_PCI_DRIVER',
  isRetriable: true,
  remedy:
    'Check that contiv-stn may write to /sys, that the driver is loaded, and that no process, such as VPP, still uses the device.',
});

export interface PciDevice {
  /** For example `0000:0b:00.0`. */
  readonly address: string;
  /** undefined: it has none. */
  readonly driver: string | undefined;
}

export interface PciDevices {
  /** The device of a link; undefined: it has none, or is reached over another bus such as USB. */
  deviceOf(link: string): PciDevice | undefined;
  /** Driver of a device; undefined: it has none. */
  driverOf(address: string): string | undefined;
  /** Names of the links of a device. */
  linksOf(address: string): readonly string[];
  isLoaded(driver: string): boolean;
  /** Does nothing if it has no driver. @throws PciDriverError */
  unbind(address: string): Promise<void>;
  /** From whatever driver it has. @throws PciDriverError */
  bind(address: string, driver: string): Promise<void>;
}

const ADDRESS = /^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/;
const VIRTIO = /^virtio\d+$/;
/** A driver may wait for the process that uses the device. */
const LIMIT_MS = 10_000;
/** Some drivers come and go after the write. */
const SETTLE_MS = 2_000;
const SETTLE_STEP_MS = 50;

export function sysfsPciDevices(clock: Pick<Clock, 'timer' | 'sleep'>, sysfs = '/sys'): PciDevices {
  const devices = join(sysfs, 'bus/pci/devices');
  const drivers = join(sysfs, 'bus/pci/drivers');
  /** By address and path: a write that still waits is not started a second time. */
  const writing = new Map<string, Promise<void>>();

  const driverOf = (address: string): string | undefined => {
    try {
      return basename(readlinkSync(join(devices, address, 'driver')));
    } catch {
      return undefined;
    }
  };

  const write = async (address: string, path: string, text: string): Promise<void> => {
    const key = `${address} ${path}`;
    const work = writing.get(key) ?? writeSysfs(path, text).finally(() => writing.delete(key));
    writing.set(key, work);
    const limit = Promise.withResolvers<never>();
    const timer = clock.timer(LIMIT_MS, () =>
      limit.reject(new Error('the driver has not answered, perhaps a process uses the device')),
    );
    try {
      await Promise.race([work, limit.promise]);
    } catch (cause) {
      throw new PciDriverError(`cannot write ${path}: ${errorText(cause)}`, {
        where: address,
        cause,
      });
    } finally {
      timer.cancel();
    }
  };

  /** The driver counts, and not the error: some drivers report one although they are bound. */
  const settled = async (
    address: string,
    driver: string | undefined,
    work: Promise<void>,
  ): Promise<void> => {
    const failure = await work.then(
      () => undefined,
      (thrown: unknown) => ({ thrown }),
    );
    for (let waited = 0; waited < SETTLE_MS; waited += SETTLE_STEP_MS) {
      if (driverOf(address) === driver) return;
      if (failure) throw failure.thrown;
      await clock.sleep(SETTLE_STEP_MS);
    }
    const found = driverOf(address) ?? 'none';
    throw new PciDriverError(`the driver is ${found} instead of ${driver ?? 'none'}`, {
      where: address,
    });
  };

  const unbind = async (address: string): Promise<void> => {
    if (driverOf(address) === undefined) return;
    const path = join(devices, address, 'driver/unbind');
    await settled(address, undefined, write(address, path, address));
  };

  return {
    deviceOf(link) {
      const path = join(sysfs, 'class/net', link, 'device');
      if (!existsSync(path)) return undefined;
      const device = realpathSync(path);
      const pci = VIRTIO.test(basename(device)) ? dirname(device) : device;
      const address = basename(pci);
      if (!ADDRESS.test(address) || !existsSync(join(devices, address))) return undefined;
      return { address, driver: driverOf(address) };
    },
    driverOf,
    linksOf(address) {
      const folder = join(devices, address);
      const parents = ['.', ...entries(folder).filter((name) => VIRTIO.test(name))];
      return parents.flatMap((parent) => entries(join(folder, parent, 'net')));
    },
    isLoaded: (driver) => existsSync(join(drivers, driver)),
    unbind,
    async bind(address, driver) {
      if (driverOf(address) === driver) return;
      if (!existsSync(join(drivers, driver)))
        throw new PciDriverError(`the driver ${driver} is not loaded`, { where: address });
      await unbind(address);
      const override = join(devices, address, 'driver_override');
      // The override concerns this device alone; an ID given to the driver would concern all of its kind.
      if (existsSync(override)) await write(address, override, `${driver}\n`);
      try {
        await settled(address, driver, write(address, join(drivers, driver, 'bind'), address));
      } finally {
        if (existsSync(override)) await write(address, override, '\n');
      }
    },
  };
}

/** @throws the error of the kernel; the file is never created */
async function writeSysfs(path: string, text: string): Promise<void> {
  const file = await open(path, constants.O_WRONLY);
  try {
    await file.write(text);
  } finally {
    await file.close();
  }
}

function entries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
