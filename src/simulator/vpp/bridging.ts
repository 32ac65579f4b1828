import { fromAddress, fromMac, toAddress, toMac } from '#vpp/binapi/addresses.ts';
import type { BridgeDomainAddDelV2, BridgeDomainDetails } from '#vpp/binapi/messages.gen.ts';
import type { ReceivedFields } from '#vpp/binapi/server.ts';
import type { Interfaces, SimInterface } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { NONE, retval } from './retval.ts';

const portType = { normal: 0, bvi: 1, unknownUnicast: 2 };
const MAX_ID = 0xff_ffff;

type Settings = Omit<ReceivedFields<BridgeDomainAddDelV2>, 'is_add'>;

interface Domain {
  readonly settings: Settings;
  /** Interface index to split-horizon group, in the order of joining. */
  readonly members: Map<number, number>;
  bvi: number;
  unknownUnicast: number;
  /** ARP termination: MAC by address. */
  readonly arp: Map<string, string>;
}

/** A MAC of a domain. VPP stores it by the slot of the domain, not by its ID. */
export interface MacEntry {
  readonly slot: number;
  readonly mac: string;
  readonly index: number;
  readonly isStatic: boolean;
  readonly filter: boolean;
  readonly bvi: boolean;
}

type Mode =
  | { readonly kind: 'bridge'; readonly slot: number }
  | { readonly kind: 'cross'; readonly to: number };

/** Settings of a domain that was created implicitly by a joining member. */
const implicitSettings: Omit<Settings, 'bd_id'> = {
  flood: true,
  uu_flood: true,
  forward: true,
  learn: true,
  arp_term: false,
  arp_ufwd: false,
  mac_age: 0,
  bd_tag: '',
};

/** Layer 2: bridge domains, their members and MACs, cross-connects. */
export class Bridging {
  readonly #interfaces: Interfaces;
  /** Slot 0 is VPP's own domain; a free slot is reused by the next domain. */
  readonly #domains: (Domain | undefined)[] = [];
  /** By slot: an implicitly created domain inherits the aging of the previous domain in its slot. */
  readonly #aging = new Map<number, number>();
  /** L2 modes of interfaces; an interface without an entry routes. */
  readonly #modes = new Map<number, Mode>();
  /**
   * By slot and MAC. A static entry outlives the membership, the interface and even the domain, and
   * then applies to their successors.
   */
  readonly #macs = new Map<string, MacEntry>();
  #nextId = 1;
  readonly #crash: (why: string) => void;

  /** @param crash VPP crashes when local0 becomes the BVI of a domain */
  constructor(interfaces: Interfaces, crash: (why: string) => void) {
    this.#interfaces = interfaces;
    this.#crash = crash;
    this.#domains.push(this.#newDomain({ ...implicitSettings, bd_id: 0 }));
    interfaces.onRemove((iface) => this.#remove(iface));
    interfaces.onMac((iface) => this.#followMac(iface));
  }

  #newDomain(settings: Settings): Domain {
    return { settings, members: new Map(), bvi: NONE, unknownUnicast: NONE, arp: new Map() };
  }

  #slotOf(id: number): number | undefined {
    const slot = this.#domains.findIndex((domain) => domain?.settings.bd_id === id);
    return slot < 0 ? undefined : slot;
  }

  #create(requested: Settings, isImplicit = false): number {
    const free = this.#domains.indexOf(undefined);
    const slot = free < 0 ? this.#domains.length : free;
    const mac_age = isImplicit ? (this.#aging.get(slot) ?? 0) : requested.mac_age;
    this.#aging.set(slot, mac_age);
    this.#domains[slot] = this.#newDomain({ ...requested, mac_age });
    return slot;
  }

  #unusedId(): number {
    while (this.#slotOf(this.#nextId) !== undefined) this.#nextId++;
    return this.#nextId;
  }

  #addDel({ is_add, ...settings }: ReceivedFields<BridgeDomainAddDelV2>): number {
    const slot = this.#slotOf(settings.bd_id);
    if (is_add) {
      if (slot !== undefined) return retval.BD_ALREADY_EXISTS;
      if (settings.bd_id > MAX_ID) return retval.BD_ID_EXCEED_MAX;
      this.#create(settings);
      return 0;
    }
    if (slot === undefined) return retval.NO_SUCH_ENTRY;
    if (slot === 0) return retval.BD_NOT_MODIFIABLE;
    if (this.#domains[slot]!.members.size > 0) return retval.BD_IN_USE;
    this.#domains[slot] = undefined;
    return 0;
  }

  #bviMac(slot: number, iface: SimInterface, bvi: boolean): void {
    const key = `${slot} ${iface.mac}`;
    // a later entry of the same MAC may belong to another interface
    if (!bvi && this.#macs.get(key)?.index === iface.index) this.#macs.delete(key);
    if (bvi)
      this.#macs.set(key, {
        slot,
        mac: iface.mac,
        index: iface.index,
        isStatic: true,
        filter: false,
        bvi: true,
      });
  }

  /** Only loopbacks tell layer 2 of their new MAC. */
  #followMac(iface: SimInterface): void {
    if (iface.kind !== 'loopback') return;
    const slot = this.#domains.findIndex((domain) => domain?.bvi === iface.index);
    if (slot < 0) return;
    for (const [key, entry] of this.#macs)
      if (entry.slot === slot && entry.index === iface.index && entry.bvi && entry.isStatic)
        this.#macs.delete(key);
    this.#bviMac(slot, iface, true);
  }

  /** VPP also sets the other end of a cross-connect back to routing, even a member of a domain. */
  #remove(iface: SimInterface): void {
    const mode = this.#modes.get(iface.index);
    const other = mode?.kind === 'cross' ? this.#interfaces.get(mode.to) : undefined;
    if (other) this.#leave(other);
    this.#leave(iface);
  }

  /** Sets the interface back to routing. */
  #leave(iface: SimInterface): void {
    const mode = this.#modes.get(iface.index);
    this.#modes.delete(iface.index);
    if (mode?.kind !== 'bridge') return;
    const domain = this.#domains[mode.slot];
    if (!domain) return;
    domain.members.delete(iface.index);
    if (domain.unknownUnicast === iface.index) domain.unknownUnicast = NONE;
    if (domain.bvi !== iface.index) return;
    domain.bvi = NONE;
    this.#bviMac(mode.slot, iface, false);
  }

  #join(iface: SimInterface, id: number, type: number, group: number): number {
    const slot = this.#slotOf(id) ?? this.#create({ ...implicitSettings, bd_id: id }, true);
    const domain = this.#domains[slot]!;
    if (type === portType.bvi && iface.kind === 'local') this.#crash('local0 as BVI');
    this.#leave(iface);
    this.#modes.set(iface.index, { kind: 'bridge', slot });
    // by then VPP has taken it from where it was
    if (type === portType.bvi && domain.bvi !== NONE) return retval.BD_ALREADY_HAS_BVI;
    if (type === portType.unknownUnicast) {
      domain.unknownUnicast = iface.index;
      return 0;
    }
    domain.members.set(iface.index, group);
    if (type !== portType.bvi) return 0;
    domain.bvi = iface.index;
    this.#bviMac(slot, iface, true);
    return 0;
  }

  #details({ settings, members, bvi, unknownUnicast }: Domain): BridgeDomainDetails {
    return {
      ...settings,
      bvi_sw_if_index: bvi,
      uu_fwd_sw_if_index: unknownUnicast,
      sw_if_details: [...members].map(([sw_if_index, shg]) => ({ context: 0, sw_if_index, shg })),
    };
  }

  #addMac(requested: Omit<MacEntry, 'slot'>, id: number): number {
    const slot = this.#slotOf(id);
    if (slot === undefined) return retval.NO_SUCH_ENTRY;
    if (!requested.filter) {
      const mode = this.#interfaces.get(requested.index) && this.#modes.get(requested.index);
      if (mode?.kind !== 'bridge') return retval.INVALID_SW_IF_INDEX;
    }
    const entry: MacEntry = requested.filter
      ? { ...requested, slot, index: NONE, isStatic: true, bvi: false }
      : { ...requested, slot };
    this.#macs.set(`${slot} ${requested.mac}`, entry);
    return 0;
  }

  #deleteMac(mac: string, id: number, index: number): number {
    const slot = this.#slotOf(id);
    const entry = this.#macs.get(`${slot} ${mac}`);
    // VPP takes the index of local0 for any interface
    const isMatch = index === 0 || entry?.index === index;
    if (!entry || !isMatch) return retval.NO_SUCH_ENTRY;
    this.#macs.delete(`${slot} ${mac}`);
    return 0;
  }

  #setArp(id: number, address: string, mac: string, isAdd: boolean): number {
    const slot = this.#slotOf(id);
    if (slot === undefined) return retval.NO_SUCH_ENTRY;
    const { arp } = this.#domains[slot]!;
    if (isAdd) arp.set(address, mac);
    else if (arp.get(address) === mac) arp.delete(address);
    else return retval.UNSPECIFIED;
    return 0;
  }

  #cross(rx: number, tx: number, enable: boolean): number {
    const iface = this.#interfaces.get(rx);
    if (!iface || (enable && !this.#interfaces.get(tx))) return retval.INVALID_SW_IF_INDEX;
    this.#leave(iface);
    if (enable) this.#modes.set(rx, { kind: 'cross', to: tx });
    return 0;
  }

  handlers(): MessageHandlers {
    const idOf = (slot: number) => this.#domains[slot]?.settings.bd_id ?? NONE;
    const shown = () => this.#domains.filter((domain) => domain && domain.settings.bd_id !== 0);
    return {
      requests: {
        bridge_domain_add_del_v2: (requested) => {
          const automatic = requested.bd_id === NONE && requested.is_add;
          const bd_id = automatic ? this.#unusedId() : requested.bd_id;
          const refused = this.#addDel({ ...requested, bd_id });
          return { retval: refused, bd_id };
        },
        sw_interface_set_l2_bridge: ({ rx_sw_if_index, bd_id, port_type, shg, enable }) => {
          const iface = this.#interfaces.get(rx_sw_if_index);
          if (!iface) return retval.INVALID_SW_IF_INDEX;
          if (port_type > portType.unknownUnicast) return retval.INVALID_VALUE;
          if (enable) return this.#join(iface, bd_id, port_type, shg);
          this.#leave(iface);
          return 0;
        },
        l2fib_add_del: ({ mac, bd_id, sw_if_index, is_add, static_mac, filter_mac, bvi_mac }) =>
          is_add
            ? this.#addMac(
                {
                  mac: fromMac(mac),
                  index: sw_if_index,
                  isStatic: static_mac,
                  filter: filter_mac,
                  bvi: bvi_mac,
                },
                bd_id,
              )
            : this.#deleteMac(fromMac(mac), bd_id, sw_if_index),
        bd_ip_mac_add_del: ({ is_add, entry }) =>
          this.#setArp(entry.bd_id, fromAddress(entry.ip), fromMac(entry.mac), is_add),
        sw_interface_set_l2_xconnect: ({ rx_sw_if_index, tx_sw_if_index, enable }) =>
          this.#cross(rx_sw_if_index, tx_sw_if_index, enable),
      },
      dumps: {
        bridge_domain_dump: ({ bd_id, sw_if_index }) => {
          // VPP does not support selection by interface
          if (sw_if_index !== NONE) return [];
          return shown()
            .filter((domain) => bd_id === NONE || domain?.settings.bd_id === bd_id)
            .map((domain) => this.#details(domain!));
        },
        l2_fib_table_dump: ({ bd_id }) =>
          [...this.#macs.values()]
            .filter(({ slot }) => bd_id === NONE || idOf(slot) === bd_id)
            .map((entry) => ({
              bd_id: idOf(entry.slot),
              mac: toMac(entry.mac),
              sw_if_index: entry.index,
              static_mac: entry.isStatic,
              filter_mac: entry.filter,
              bvi_mac: entry.bvi,
            })),
        bd_ip_mac_dump: ({ bd_id }) =>
          shown().flatMap((domain) => {
            const id = domain!.settings.bd_id;
            if (bd_id !== NONE && bd_id !== id) return [];
            return [...domain!.arp].map(([ip, mac]) => ({
              entry: { bd_id: id, ip: toAddress(ip), mac: toMac(mac) },
            }));
          }),
        l2_xconnect_dump: () =>
          [...this.#modes]
            .flatMap(([rx_sw_if_index, mode]) =>
              mode.kind === 'cross' ? [{ rx_sw_if_index, tx_sw_if_index: mode.to }] : [],
            )
            .sort((a, b) => a.rx_sw_if_index - b.rx_sw_if_index),
      },
      snapshot: () => this.#snapshot(),
    };
  }

  #snapshot() {
    const name = (index: number) => this.#interfaces.nameOf(index);
    const domainName = (slot: number) => {
      const settings = this.#domains[slot]?.settings;
      return settings ? settings.bd_tag || `bd:${settings.bd_id}` : `deleted:${slot}`;
    };
    const domains = [...this.#domains.entries()].flatMap(([slot, domain]) => {
      if (slot === 0 || !domain) return [];
      const { bd_id: _, bd_tag, ...settings } = domain.settings;
      return [
        {
          name: bd_tag || `bd:${domain.settings.bd_id}`,
          ...settings,
          members: [...domain.members]
            .map(([index, group]) => {
              const bvi = index === domain.bvi ? ' bvi' : '';
              return `${name(index)} shg ${group}${bvi}`;
            })
            .sort(),
          arpTermination: [...domain.arp].map(([ip, mac]) => `${ip} ${mac}`).sort(),
        },
      ];
    });
    return {
      bridgeDomains: domains.sort((a, b) => (a.name < b.name ? -1 : 1)),
      macs: [...this.#macs.values()]
        .map(({ slot, mac, index, isStatic, filter, bvi }) => {
          const words = [domainName(slot), mac, filter ? 'drop' : name(index)];
          if (isStatic) words.push('static');
          if (bvi) words.push('bvi');
          return words.join(' ');
        })
        .sort(),
      crossConnects: [...this.#modes]
        .flatMap(([index, mode]) =>
          mode.kind === 'cross' ? [`${name(index)} to ${name(mode.to)}`] : [],
        )
        .sort(),
    };
  }
}
