/** The network of a host with NICs, as far as contiv-stn needs it. */
import type { HostLink, HostNetwork } from '#stn/daemon/host-network.ts';
import type { NicAddress, NicRoute } from '#stn/daemon/nic-record.ts';
import { TestPci } from './test-pci.ts';

export const ADDRESS = '0000:0b:00.0';

interface Link extends HostLink {
  readonly addresses: NicAddress[];
  routes: NicRoute[];
}

export function address(cidr: string): NicAddress {
  return { address: cidr, scope: 0, flags: 0 };
}

export function route(destination: string, more: Partial<NicRoute> = {}): NicRoute {
  return {
    destination,
    tos: 0,
    table: 254,
    protocol: 3,
    scope: 0,
    type: 1,
    flags: 0,
    ...more,
  };
}

/** The kernel refuses a route without a reachable gateway. */
class UnreachableError extends Error {}

export class FakeHost implements HostNetwork {
  readonly pci = new TestPci();
  /** Name that the driver gives to the link. */
  nameOfDriver = 'eth0';
  readonly #links = new Map<number, Link>();
  #count = 0;

  constructor() {
    this.plug('eth0');
    this.pci.add({
      address: ADDRESS,
      link: 'eth0',
      driver: 'e1000e',
      appear: () => {
        this.plug(this.nameOfDriver);
        return this.nameOfDriver;
      },
      vanish: () => {
        for (const { index, name } of this.links())
          if (name === 'eth0' || name === this.nameOfDriver) this.#links.delete(index);
      },
    });
  }

  plug(name: string, more: Partial<HostLink> = {}): number {
    const index = ++this.#count;
    this.#links.set(index, {
      kind: 'ether',
      up: false,
      operState: 6,
      mtu: 1500,
      mac: '02:00:00:00:00:01',
      masterIndex: undefined,
      lowerIndex: undefined,
      ...more,
      index,
      name,
      addresses: [],
      routes: [],
    });
    return index;
  }

  unplug(name: string): void {
    this.#links.delete(this.#named(name)!.index);
  }

  /** Link, addresses and routes without the index of the link. */
  state(name: string): unknown {
    const { index: _, ...rest } = this.#named(name) ?? { index: 0 };
    return structuredClone(rest);
  }

  has(name: string): boolean {
    return this.#named(name) !== undefined;
  }

  /** Of a link by its name. */
  indexOf(name: string): number {
    return this.#named(name)!.index;
  }

  links(): readonly HostLink[] {
    return [...this.#links.values()];
  }

  addresses(index: number): readonly NicAddress[] {
    return [...this.#links.get(index)!.addresses];
  }

  routes(index: number): readonly NicRoute[] {
    return [...this.#links.get(index)!.routes];
  }

  setLink(index: number, change: { up?: boolean; mtu?: number; mac?: string }): void {
    const link = this.#links.get(index)!;
    this.#links.set(index, { ...link, ...change, ...(change.up === false && { routes: [] }) });
  }

  rename(index: number, name: string): void {
    const link = this.#links.get(index)!;
    if (link.up) throw new Error('the link is up');
    this.#links.set(index, { ...link, name });
    this.pci.rename(link.name, name);
  }

  addAddress(index: number, given: NicAddress): void {
    const { addresses } = this.#links.get(index)!;
    if (addresses.some((each) => each.address === given.address)) throw new Error('EEXIST');
    addresses.push(given);
  }

  addRoute(index: number, given: NicRoute): void {
    const { up, routes, addresses } = this.#links.get(index)!;
    if (!up) throw new UnreachableError('the link is down');
    const { gateway, preferredSource } = given;
    // Networks have 24 bits here.
    const networks = [
      ...addresses.map((each) => each.address),
      ...routes.map((each) => each.destination),
    ];
    const prefix = gateway?.slice(0, gateway.lastIndexOf('.') + 1);
    if (prefix !== undefined && !networks.some((each) => each.startsWith(prefix)))
      throw new UnreachableError('the gateway is unreachable');
    if (
      preferredSource !== undefined &&
      !addresses.some((each) => each.address.startsWith(`${preferredSource}/`))
    )
      throw new UnreachableError('the source is not an address of the host');
    routes.push(given);
  }

  #named(name: string): Link | undefined {
    return [...this.#links.values()].find((link) => link.name === name);
  }
}
