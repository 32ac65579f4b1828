import { type Cidr, contains, formatCidr, isLinkLocalIpv6, network } from '#models/ip.ts';
import { toPrefix } from '#vpp/binapi/addresses.ts';
import { type Family, type Fib, type FibTable, pathOf, pathType, source } from './fib.ts';
import type { Interfaces, SimInterface } from './interfaces.ts';
import { LinkLocalAddresses } from './link-local-addresses.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { NONE, retval } from './retval.ts';
import { cidrOf } from './routes.ts';

/** IP state of an interface. */
interface IpInterface {
  readonly iface: SimInterface;
  readonly tables: Record<Family, FibTable>;
  /** In the order in which they were added. */
  addresses: Cidr[];
  /** Index of the interface whose addresses this one borrows (unnumbered). */
  lender: number | undefined;
}

function familyOf(cidr: Cidr): Family {
  return cidr.address.length === 16 ? 6 : 4;
}

function sameText(a: Cidr, b: Cidr): boolean {
  return formatCidr(a) === formatCidr(b);
}

function union(address: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(16);
  bytes.set(address);
  return bytes;
}

/** Addresses of interfaces, the interfaces' tables, and the routes that result from both. */
export class Addresses {
  readonly #interfaces: Interfaces;
  readonly #fib: Fib;
  readonly #byIndex = new Map<number, IpInterface>();
  readonly #linkLocal: LinkLocalAddresses;
  readonly #onBind: ((iface: SimInterface, family: Family) => void)[] = [];
  readonly #onAddress: ((iface: SimInterface, address: Cidr, isAdd: boolean) => void)[] = [];

  constructor(interfaces: Interfaces, fib: Fib, crash: (why: string) => void) {
    this.#interfaces = interfaces;
    this.#fib = fib;
    this.#linkLocal = new LinkLocalAddresses(interfaces, crash);
    interfaces.onAdmin((iface) => {
      const ip = this.#byIndex.get(iface.index);
      for (const cidr of ip?.addresses ?? []) {
        if (iface.adminUp) this.#connect(ip!, cidr);
        else this.#disconnect(ip!, cidr);
      }
    });
    interfaces.onRemove(({ index }) => this.#forget(index));
  }

  /** The routing table of the interface. */
  tableOf(iface: SimInterface, family: Family): FibTable {
    return this.#ip(iface).tables[family];
  }

  /** VPP's DHCP client adds or deletes an address. It ignores failures. */
  lease(iface: SimInterface, cidr: Cidr, isAdd: boolean): void {
    const ip = this.#ip(iface);
    if (isAdd) this.#add(ip, cidr);
    else this.#drop(ip, cidr);
  }

  /** Called after the interface was bound to a table, even if that was its table before. */
  onBind(listener: (iface: SimInterface, family: Family) => void): void {
    this.#onBind.push(listener);
  }

  /** Called after an interface got an address and after it lost one. */
  onAddress(listener: (iface: SimInterface, address: Cidr, isAdd: boolean) => void): void {
    this.#onAddress.push(listener);
  }

  /** In the order in which they were added. */
  of(index: number): readonly Cidr[] {
    return this.#byIndex.get(index)?.addresses ?? [];
  }

  #ip(iface: SimInterface): IpInterface {
    const known = this.#byIndex.get(iface.index);
    if (known) return known;
    const created: IpInterface = {
      iface,
      tables: { 4: this.#fib.find(4, 0)!, 6: this.#fib.find(6, 0)! },
      addresses: [],
      lender: undefined,
    };
    this.#byIndex.set(iface.index, created);
    return created;
  }

  #forget(index: number): void {
    const ip = this.#byIndex.get(index);
    if (ip) {
      this.#dropAll(ip);
      for (const family of [4, 6] as const) this.#moveTo(ip, family, this.#fib.find(family, 0)!);
      this.#byIndex.delete(index);
    }
  }

  #moveTo(ip: IpInterface, family: Family, table: FibTable): void {
    const before = ip.tables[family];
    if (before === table) return;
    this.#fib.lock(table, 'interfaces');
    ip.tables[family] = table;
    if (before.id !== 0) this.#fib.unlock(before, 'interfaces');
  }

  /** VPP rejects overlapping networks on interfaces of one table. */
  #conflicts(ip: IpInterface, cidr: Cidr): boolean {
    const family = familyOf(cidr);
    for (const other of this.#byIndex.values()) {
      if (other.tables[family] !== ip.tables[family]) continue;
      for (const present of other.addresses) {
        if (familyOf(present) !== family) continue;
        if (!contains(present, cidr.address) && !contains(cidr, present.address)) continue;
        const sibling = other === ip && present.length === cidr.length;
        if (!sibling || sameText(present, cidr)) return true;
      }
    }
    return false;
  }

  #add(ip: IpInterface, cidr: Cidr): number {
    const family = familyOf(cidr);
    if (this.#conflicts(ip, cidr))
      return family === 4 ? retval.ADDRESS_IN_USE : retval.DUPLICATE_IF_ADDRESS;
    if (cidr.length === 0) return retval.ADDRESS_LENGTH_MISMATCH;
    ip.addresses.push(cidr);
    if (family === 6) this.#linkLocal.lock(ip.iface);
    if (ip.iface.adminUp) this.#connect(ip, cidr);
    for (const listener of this.#onAddress) listener(ip.iface, cidr, true);
    return 0;
  }

  #drop(ip: IpInterface, cidr: Cidr): number {
    const found = ip.addresses.find((present) => sameText(present, cidr));
    if (!found) return retval.ADDRESS_NOT_FOUND_FOR_INTERFACE;
    ip.addresses = ip.addresses.filter((present) => present !== found);

    if (ip.iface.adminUp) this.#disconnect(ip, found);
    for (const listener of this.#onAddress) listener(ip.iface, found, false);
    if (familyOf(found) === 6) this.#linkLocal.unlock(ip.iface);
    return 0;
  }

  #changeLinkLocal(iface: SimInterface, { address, length }: Cidr, isAdd: boolean): number {
    if (length !== 128) return retval.ADDRESS_LENGTH_MISMATCH;
    return isAdd
      ? this.#linkLocal.set(iface, address)
      : this.#linkLocal.refuseDeletion(iface, address);
  }

  #dropAll(ip: IpInterface): void {
    for (const cidr of [...ip.addresses]) this.#drop(ip, cidr);
  }

  /** Adds the routes of one address; the first address of a network adds those of the network. */
  #connect(ip: IpInterface, cidr: Cidr): void {
    const family = familyOf(cidr);
    const table = ip.tables[family];
    const index = { sw_if_index: ip.iface.index };
    const whole = family === 4 ? 32 : 128;
    const set = (to: Cidr, path: Parameters<typeof pathOf>[1]) =>
      this.#fib.set(table, to, source.interface, [pathOf(family, path)]);
    set(
      { address: cidr.address, length: whole },
      { ...index, type: pathType.local, nextHop: union(cidr.address) },
    );
    if (cidr.length === whole) return;
    const glean = family === 4 ? cidr : network(cidr);
    if (this.#fib.get(table, glean)?.sources.has(source.interface)) return;
    set(glean, index);
    for (const [special, isDrop] of this.#specials(cidr))
      set(
        special,
        isDrop ? { type: pathType.drop } : { ...index, nextHop: union(special.address) },
      );
  }

  #disconnect(ip: IpInterface, cidr: Cidr): void {
    const family = familyOf(cidr);
    const table = ip.tables[family];
    const whole = family === 4 ? 32 : 128;
    const unset = (to: Cidr) => this.#fib.set(table, to, source.interface, []);
    unset({ address: cidr.address, length: whole });
    const isShared = ip.addresses.some(
      (other) =>
        other !== cidr &&
        other.length === cidr.length &&
        contains(cidr, other.address) &&
        this.#isConnected(ip, other),
    );
    if (cidr.length === whole || isShared) return;
    for (const [special] of this.#specials(cidr)) unset(special);
    unset(cidr);
  }

  #isConnected(ip: IpInterface, cidr: Cidr): boolean {
    const length = cidr.address.length * 8;
    const host = this.#fib.get(ip.tables[familyOf(cidr)], { address: cidr.address, length });
    return host?.sources.has(source.interface) === true;
  }

  /** IPv4: the first and the last address of a network; for a /31 the other address. */
  #specials(cidr: Cidr): readonly (readonly [Cidr, isDrop: boolean])[] {
    if (familyOf(cidr) === 6) return [];
    const own = cidr.address;
    if (cidr.length === 31) {
      const other = own.slice();
      other[3]! ^= 1;
      return [[{ address: other, length: 32 }, false]];
    }
    const first = network(cidr).address;
    const last = first.map((byte, i) => {
      const kept = Math.min(8, Math.max(0, cidr.length - i * 8));
      return byte | (0xff >> kept);
    });
    return [first, last]
      .filter((address) => Buffer.compare(address, own) !== 0)
      .map((address) => [{ address, length: 32 }, true] as const);
  }

  /** Own addresses, or those of the lender. */
  #effectiveAddresses(ip: IpInterface, family: Family): readonly Cidr[] {
    const lender = ip.lender === undefined ? undefined : this.#byIndex.get(ip.lender);
    return (lender ?? ip).addresses.filter((cidr) => familyOf(cidr) === family);
  }

  #bind(ip: IpInterface, family: Family, id: number): number {
    const table = this.#fib.find(family, id);
    if (!table) return retval.NO_SUCH_FIB;
    if (this.#effectiveAddresses(ip, family).length > 0) return retval.ADDRESS_FOUND_FOR_INTERFACE;
    this.#moveTo(ip, family, table);
    for (const listener of this.#onBind) listener(ip.iface, family);
    return 0;
  }

  #setUnnumbered(lender: number, borrower: number, isAdd: boolean): number {
    const iface = this.#interfaces.get(borrower);
    if (!iface) return retval.INVALID_SW_IF_INDEX;
    const ip = this.#ip(iface);
    if (!isAdd) {
      ip.lender = undefined;
      return 0;
    }
    const lenderInterface = this.#interfaces.get(lender);
    if (!lenderInterface) return retval.INVALID_SW_IF_INDEX_2;
    const from = this.#ip(lenderInterface);
    if (from.tables[4] !== ip.tables[4] || from.tables[6] !== ip.tables[6])
      return retval.UNEXPECTED_INTF_STATE;
    ip.lender = lender;
    return 0;
  }

  handlers(): MessageHandlers {
    const find = (index: number): IpInterface | undefined => {
      const iface = this.#interfaces.get(index);
      return iface && this.#ip(iface);
    };
    return {
      requests: {
        sw_interface_add_del_address: ({ sw_if_index, is_add, del_all, prefix }) => {
          const ip = find(sw_if_index);
          if (!ip) return retval.INVALID_SW_IF_INDEX;
          if (del_all) {
            this.#dropAll(ip);
            return 0;
          }
          if (ip.iface.kind === 'local') return retval.UNSUPPORTED;
          const cidr = cidrOf(prefix);
          if (isLinkLocalIpv6(cidr.address)) return this.#changeLinkLocal(ip.iface, cidr, is_add);
          return is_add ? this.#add(ip, cidr) : this.#drop(ip, cidr);
        },
        sw_interface_set_table: ({ sw_if_index, is_ipv6, vrf_id }) => {
          const ip = find(sw_if_index);
          return ip ? this.#bind(ip, is_ipv6 ? 6 : 4, vrf_id) : retval.INVALID_SW_IF_INDEX;
        },
        sw_interface_get_table: ({ sw_if_index, is_ipv6 }) => {
          const ip = find(sw_if_index);
          return ip ? { vrf_id: ip.tables[is_ipv6 ? 6 : 4].id } : retval.INVALID_SW_IF_INDEX;
        },
        sw_interface_set_unnumbered: ({ sw_if_index, unnumbered_sw_if_index, is_add }) =>
          this.#setUnnumbered(sw_if_index, unnumbered_sw_if_index, is_add),
      },
      dumps: {
        ip_address_dump: ({ sw_if_index, is_ipv6 }) =>
          (find(sw_if_index)?.addresses ?? [])
            .filter((cidr) => familyOf(cidr) === (is_ipv6 ? 6 : 4))
            .map((cidr) => ({ sw_if_index, prefix: toPrefix(formatCidr(cidr)) })),
        ip_unnumbered_dump: ({ sw_if_index }) =>
          [...this.#byIndex.values()]
            .filter(({ iface }) => sw_if_index === NONE || iface.index === sw_if_index)
            .flatMap(({ iface, lender }) =>
              lender === undefined ? [] : [{ sw_if_index: iface.index, ip_sw_if_index: lender }],
            ),
      },
      snapshot: () => ({
        interfaces: this.#interfaces
          .all()
          .filter(({ kind }) => kind !== 'local')
          .map((iface) => this.#snapshotOf(iface))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
      }),
    };
  }

  #snapshotOf(iface: SimInterface) {
    const ip = this.#ip(iface);
    return {
      name: this.#interfaces.nameOf(iface.index),
      kind: iface.kind,
      mac: iface.mac,
      adminUp: iface.adminUp,
      linkUp: iface.linkUp,
      mtu: iface.mtu[0],
      rxModes: iface.queues.map(({ mode }) => mode),
      vrf: [ip.tables[4].id, ip.tables[6].id],
      addresses: ip.addresses.map(formatCidr).sort(),
      ...(ip.lender !== undefined && { unnumbered: this.#interfaces.nameOf(ip.lender) }),
    };
  }
}
