import type { InterfaceEvents } from './interface-events.ts';

export type InterfaceKind =
  | 'local'
  | 'loopback'
  | 'tap'
  | 'af-packet'
  | 'vxlan'
  | 'wireguard'
  | 'memif'
  | 'sub'
  | 'nic';

/** Driver of an interface; setters return a retval on failure, undefined on success. */
export interface Driver {
  /** @returns whether the link is up after the change of the admin state */
  link(adminUp: boolean): boolean;
  setMtu?(mtu: number): number | undefined;
  setMac?(mac: string): number | undefined;
}

export interface RxQueue {
  readonly id: number;
  /** Number of rx_mode. */
  mode: number;
}

export interface SimInterface {
  readonly index: number;
  readonly kind: InterfaceKind;
  /** VPP's own name. */
  readonly name: string;
  readonly deviceType: string;
  readonly driver: Driver;
  /** Of a sub-interface: the interface whose link and frames it shares. */
  readonly sup: SimInterface | undefined;
  /** Of a sub-interface. */
  readonly vlan: number;
  readonly queues: readonly RxQueue[];
  /** Mode that a queue gets for `default`. */
  readonly defaultRxMode: number;
  mac: string;
  adminUp: boolean;
  linkUp: boolean;
  linkMtu: number;
  /** L3, IPv4, IPv6, MPLS. */
  mtu: readonly number[];
  tag: string;
}

export type NewInterface = Pick<SimInterface, 'kind' | 'name' | 'deviceType' | 'driver' | 'mac'> &
  Partial<
    Pick<
      SimInterface,
      'queues' | 'defaultRxMode' | 'adminUp' | 'linkUp' | 'linkMtu' | 'mtu' | 'sup' | 'vlan'
    >
  >;

const DEFAULT_MTU = 9000;

export const NO_MAC = '00:00:00:00:00:00';

/** False for local0 and for interfaces in IP mode. */
export function isEthernet(iface: SimInterface): boolean {
  return (iface.sup ?? iface).mac !== NO_MAC;
}

/** Index allocator like VPP's pools: the index that was freed last is reused first. */
export class IndexPool {
  readonly #free: number[] = [];
  #next: number;

  constructor(first = 0) {
    this.#next = first;
  }

  allocate(): number {
    return this.#free.pop() ?? this.#next++;
  }

  release(index: number): void {
    this.#free.push(index);
  }
}

/** All interfaces, with listeners for their changes. */
export class Interfaces {
  readonly #events: InterfaceEvents;
  readonly #pool = new IndexPool();
  readonly #byIndex = new Map<number, SimInterface>();
  readonly #onRemove: ((iface: SimInterface) => void)[] = [];
  readonly #onAdmin: ((iface: SimInterface) => void)[] = [];
  readonly #onMac: ((iface: SimInterface) => void)[] = [];

  constructor(events: InterfaceEvents) {
    this.#events = events;
    const local: NewInterface = {
      kind: 'local',
      name: 'local0',
      deviceType: 'local',
      mac: NO_MAC,
      driver: { link: () => false },
      linkMtu: 0,
    };
    this.add(local);
  }

  get(index: number): SimInterface | undefined {
    return this.#byIndex.get(index);
  }

  /** All interfaces, or those of one kind, by index. */
  all(kind?: InterfaceKind): readonly SimInterface[] {
    return [...this.#byIndex.values()]
      .filter((iface) => kind === undefined || iface.kind === kind)
      .sort((a, b) => a.index - b.index);
  }

  add(requested: NewInterface): SimInterface {
    const linkMtu = requested.linkMtu ?? DEFAULT_MTU;
    const iface: SimInterface = {
      queues: [],
      defaultRxMode: 0,
      adminUp: false,
      linkUp: false,
      sup: undefined,
      vlan: 0,
      mtu: [linkMtu, 0, 0, 0],
      ...requested,
      linkMtu,
      index: this.#pool.allocate(),
      tag: '',
    };
    this.#byIndex.set(iface.index, iface);
    this.#events.record(iface.index, 'added');
    if (iface.adminUp) this.#events.record(iface.index, 'admin-up');
    if (iface.linkUp) this.#events.record(iface.index, 'link-up');
    return iface;
  }

  /** Removes the interface and its sub-interfaces. */
  remove(iface: SimInterface): void {
    for (const each of this.all('sub')) if (each.sup === iface) this.remove(each);
    this.setAdmin(iface, false);
    for (const listener of this.#onRemove) listener(iface);
    this.#byIndex.delete(iface.index);
    this.#pool.release(iface.index);
    this.#events.record(iface.index, 'deleted');
  }

  setAdmin(iface: SimInterface, up: boolean): void {
    if (iface.adminUp === up) return;
    iface.adminUp = up;
    const link = iface.driver.link(up);
    if (link !== iface.linkUp) this.#events.record(iface.index, link ? 'link-up' : 'link-down');
    iface.linkUp = link;
    this.#events.record(iface.index, up ? 'admin-up' : 'admin-down');
    for (const listener of this.#onAdmin) listener(iface);
  }

  /** Sets the link state, independently of the admin state. */
  setLink(iface: SimInterface, up: boolean): void {
    if (iface.linkUp === up) return;
    iface.linkUp = up;
    this.#events.record(iface.index, up ? 'link-up' : 'link-down');
  }

  setMac(iface: SimInterface, mac: string): void {
    iface.mac = mac;
    for (const listener of this.#onMac) listener(iface);
  }

  /** Called before the index is released. */
  onRemove(listener: (iface: SimInterface) => void): void {
    this.#onRemove.push(listener);
  }

  onAdmin(listener: (iface: SimInterface) => void): void {
    this.#onAdmin.push(listener);
  }

  onMac(listener: (iface: SimInterface) => void): void {
    this.#onMac.push(listener);
  }

  /** How a snapshot names an interface: by its tag, which survives a restart of VPP. */
  nameOf(index: number): string {
    const iface = this.#byIndex.get(index);
    if (!iface) return `deleted:${index}`;
    return iface.tag || iface.name;
  }
}
