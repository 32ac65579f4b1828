/** PCI devices of a test: its functions are what the drivers do. */
import { type PciDevices, PciDriverError } from '#stn/daemon/pci-devices.ts';

export interface TestDevice {
  readonly address: string;
  readonly link: string;
  driver: string | undefined;
  /** The driver makes the link, perhaps under another name. @returns its name */
  readonly appear: () => string;
  readonly vanish: () => void;
}

export class TestPci implements PciDevices {
  readonly loaded = new Set(['e1000e']);
  /** Writes that fail, for example `unbind`. */
  readonly failing = new Set<'unbind' | 'bind'>();
  readonly #devices = new Map<string, TestDevice & { name: string | undefined }>();

  add(device: TestDevice): void {
    this.#devices.set(device.address, { ...device, name: device.link });
  }

  rename(before: string, name: string): void {
    for (const device of this.#devices.values()) if (device.name === before) device.name = name;
  }

  deviceOf(link: string) {
    for (const { address, driver, name } of this.#devices.values())
      if (name === link) return { address, driver };
    return undefined;
  }

  driverOf(address: string) {
    return this.#devices.get(address)?.driver;
  }

  linksOf(address: string) {
    const name = this.#devices.get(address)?.name;
    return name === undefined ? [] : [name];
  }

  isLoaded(driver: string) {
    return this.loaded.has(driver);
  }

  async unbind(address: string) {
    if (this.failing.has('unbind')) throw new PciDriverError('unbind failed', { where: address });
    const device = this.#devices.get(address)!;
    if (device.name !== undefined) device.vanish();
    device.name = undefined;
    device.driver = undefined;
  }

  async bind(address: string, driver: string) {
    const device = this.#devices.get(address)!;
    if (device.driver === driver) return;
    if (this.failing.has('bind')) throw new PciDriverError('bind failed', { where: address });
    if (!this.loaded.has(driver))
      throw new PciDriverError(`the driver ${driver} is not loaded`, { where: address });
    await this.unbind(address);
    device.driver = driver;
    if (driver !== 'vfio-pci') device.name = device.appear();
  }
}
