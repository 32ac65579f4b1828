/** A folder with the part of sysfs that contiv-stn uses, and drivers that react to what is written there. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';

export interface FakeDevice {
  readonly address: string;
  /** Folder between the PCI device and its link, for example `virtio2`. */
  readonly virtio?: string;
  readonly driver: string;
  readonly link: string;
}

/** The kernel, which makes a link with its driver and deletes it with that. */
export interface Links {
  appear(device: FakeDevice): void;
  vanish(device: FakeDevice): void;
}

/** Driver whose devices have no link. */
const NO_LINK = 'vfio-pci';

export class FakeSysfs {
  readonly root = mkdtempSync(join(tmpdir(), 'stn-sysfs-'));
  /** Writes in their order: `e1000e/unbind 0000:0b:00.0`. */
  readonly writes: string[] = [];
  readonly #links: Links | undefined;
  readonly #devices: FakeDevice[] = [];
  readonly #drivers = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  /** @param links undefined: links are only files */
  constructor(links?: Links) {
    this.#links = links;
    mkdirSync(join(this.root, 'class/net'), { recursive: true });
    mkdirSync(join(this.root, 'bus/pci/devices'), { recursive: true });
  }

  /** Loads a driver. */
  load(driver: string): void {
    const folder = this.#driver(driver);
    mkdirSync(folder, { recursive: true });
    for (const name of ['bind', 'unbind']) writeFileSync(join(folder, name), '');
    this.#drivers.add(driver);
  }

  add(device: FakeDevice): void {
    const folder = this.#folder(device);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'driver_override'), '');
    link(join(this.root, 'bus/pci/devices', device.address), folder);
    this.#devices.push(device);
    this.#bind(device, device.driver);
  }

  /** From now on the drivers react. */
  start(): void {
    this.#timer = setInterval(() => this.#react(), 5);
  }

  driverOf({ address }: FakeDevice): string | undefined {
    const path = join(this.root, 'bus/pci/devices', address, 'driver_name');
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  }

  close(): void {
    clearInterval(this.#timer);
    rmSync(this.root, { recursive: true });
  }

  #react(): void {
    for (const driver of this.#drivers)
      for (const name of ['unbind', 'bind'] as const) {
        const path = join(this.#driver(driver), name);
        const address = readFileSync(path, 'utf8').trim();
        if (address === '') continue;
        truncateSync(path);
        this.writes.push(`${driver}/${name} ${address}`);
        const device = this.#devices.find((each) => each.address === address);
        if (!device) continue;
        if (name === 'bind') this.#bind(device, driver);
        else if (this.driverOf(device) === driver) this.#unbind(device);
      }
  }

  #bind(device: FakeDevice, driver: string): void {
    if (this.driverOf(device) !== undefined) return;
    const folder = this.#folder(device);
    if (driver !== NO_LINK) {
      const parent = join(folder, device.virtio ?? '.');
      this.#links?.appear(device);
      mkdirSync(join(parent, 'net', device.link), { recursive: true });
      const net = join(this.root, 'class/net', device.link);
      mkdirSync(net);
      link(join(net, 'device'), parent);
    }
    writeFileSync(join(folder, 'driver_name'), driver);
    link(join(folder, 'driver'), this.#driver(driver));
  }

  #unbind(device: FakeDevice): void {
    const folder = this.#folder(device);
    if (this.driverOf(device) !== NO_LINK) {
      this.#links?.vanish(device);
      rmSync(join(folder, device.virtio ?? 'net'), { recursive: true });
      rmSync(join(this.root, 'class/net', device.link), { recursive: true });
    }
    rmSync(join(folder, 'driver_name'));
    rmSync(join(folder, 'driver'));
  }

  #folder({ address }: FakeDevice): string {
    return join(this.root, 'devices/pci0000:00', address);
  }

  #driver(name: string): string {
    return join(this.root, 'bus/pci/drivers', name);
  }
}

function link(path: string, target: string): void {
  symlinkSync(join(relative(dirname(path), dirname(target)), basename(target)), path);
}
