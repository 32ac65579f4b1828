import type { Host } from './host.ts';
import type { Interfaces, SimInterface } from './interfaces.ts';

const POLLING = 1;

interface Nic {
  readonly name: string;
  hasCarrier: boolean;
  /** Of the running VPP process. */
  iface: SimInterface | undefined;
}

/** NICs with a VPP driver. NICs, MACs and cables outlive the VPP process. */
export class SimNics {
  readonly #nics: readonly Nic[];
  readonly #macs = new Map<string, string>();
  #interfaces: Interfaces | undefined;

  constructor(names: readonly string[]) {
    this.#nics = names.map((name) => ({ name, hasCarrier: true, iface: undefined }));
  }

  /** Sets whether the cable is connected. */
  setCarrier(name: string, hasCarrier: boolean): void {
    const nic = this.#nics.find((one) => one.name === name);
    if (!nic) throw new Error(`unknown NIC ${name}`);
    nic.hasCarrier = hasCarrier;
    if (nic.iface?.adminUp) this.#interfaces?.setLink(nic.iface, hasCarrier);
  }

  /** Adds the NICs to a new VPP process. */
  attachTo(interfaces: Interfaces, host: Host): void {
    this.#interfaces = interfaces;
    for (const nic of this.#nics) {
      const mac = this.#macs.get(nic.name) ?? host.randomMac();
      this.#macs.set(nic.name, mac);
      nic.iface = interfaces.add({
        kind: 'nic',
        name: nic.name,
        deviceType: 'dpdk',
        mac,
        queues: [{ id: 0, mode: POLLING }],
        defaultRxMode: POLLING,
        driver: {
          link: (adminUp) => adminUp && nic.hasCarrier,
          setMtu: () => undefined,
          setMac: () => undefined,
        },
      });
    }
  }
}
