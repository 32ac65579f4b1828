import type {
  LinkReport,
  LinkSettings,
  LinuxLink,
  LinuxNeighbor,
  NamespacePath,
  NamespaceState,
} from '#linux/api.ts';
import { contains, formatCidr, network, parseCidr } from '#models/ip.ts';
import { addConnectedRoute, deleteConnectedRoute, dropRoutes, isV6 } from './fib.ts';
import { isRunning, type LinkNamespace, type SimLink, type SimRoute } from './link.ts';
import { reportOf } from './link-report.ts';
import { linuxError } from './linux-error.ts';

/** The sysctls that exist besides those per link. */
const generalSysctls = new Set([
  'net.ipv4.ip_forward',
  'net.ipv4.ip_nonlocal_bind',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.fwmark_reflect',
  'net.ipv4.tcp_l3mdev_accept',
  'net.core.somaxconn',
]);

/** With a lower MTU, the kernel removes IPv6 from the link. */
const MIN_MTU_V6 = 1280;

interface SimNeighbor {
  readonly address: string;
  readonly mac: string;
  readonly link: SimLink;
}

/** One network namespace, with the kernel's rules. */
export class SimNamespace implements LinkNamespace {
  readonly path: NamespacePath;
  readonly inode: number;
  readonly links = new Map<string, SimLink>();
  routes: SimRoute[] = [];
  #neighbors: SimNeighbor[] = [];
  readonly sysctls = new Map<string, string>();
  #nextIndex = 1;
  #ipv6Disabled = false;

  constructor(path: NamespacePath, inode: number) {
    this.path = path;
    this.inode = inode;
    const loopback = newLink(this, 'lo', 'loopback', '00:00:00:00:00:00');
    this.attach(loopback);
  }

  link(name: string, where = `link ${name}`): SimLink {
    const found = this.links.get(name);
    if (!found) throw linuxError('ENODEV', where);
    return found;
  }

  /** Adds a link under its name; it keeps its index if that is free. */
  attach(link: SimLink): void {
    if (this.links.has(link.name)) throw linuxError('EEXIST', `link ${link.name}`);
    const taken = [...this.links.values()].some((other) => other.index === link.index);
    if (link.index === 0 || taken) link.index = this.#freeIndex();
    link.namespace = this;
    link.ipv6Disabled = this.#ipv6Disabled;
    this.links.set(link.name, link);
  }

  #freeIndex(): number {
    const taken = new Set([...this.links.values()].map((link) => link.index));
    while (taken.has(this.#nextIndex)) this.#nextIndex++;
    return this.#nextIndex++;
  }

  detach(link: SimLink): void {
    this.reset(link);
    this.links.delete(link.name);
  }

  /** Sets a link down and removes its addresses, routes and neighbors. */
  reset(link: SimLink): void {
    link.addresses = [];
    link.up = false;
    dropRoutes(this, link);
    this.#dropNeighbors(link);
  }

  /** Deletes the link, and the peer of a veth. */
  destroy(link: SimLink): void {
    for (const one of link.peer ? [link, link.peer] : [link]) {
      one.namespace.detach(one);
      one.deleted = true;
    }
  }

  deleteLink(name: string): void {
    const link = this.link(name);
    if (link.kind === 'loopback' || link.kind === 'ether')
      throw linuxError('EOPNOTSUPP', `link ${name}`);
    this.destroy(link);
  }

  rename(name: string, to: string): void {
    const link = this.link(name);
    this.setLink(name, { up: false });
    while (link.addresses.length > 0) this.deleteAddress(name, link.addresses[0]!.text);
    if (name === to) return;
    if (this.links.has(to)) throw linuxError('EEXIST', `link ${name}`);
    this.links.delete(name);
    link.name = to;
    this.links.set(to, link);
  }

  setLink(name: string, settings: LinkSettings): void {
    const where = `link ${name}`;
    const link = this.link(name, where);
    const { mtu, mac, alias, up } = settings;
    if (mac !== undefined) {
      const first = Number.parseInt(mac.slice(0, 2), 16);
      if (first & 1 || /^[0:]+$/.test(mac)) throw linuxError('EADDRNOTAVAIL', where);
      if (mac.toLowerCase() !== link.mac) this.#dropNeighbors(link);
      link.mac = mac.toLowerCase();
    }
    if (mtu !== undefined) {
      const [min, max] = link.mtuRange;
      if (mtu < min || mtu > max) throw linuxError('EINVAL', where);
      link.mtu = mtu;
      if (mtu < MIN_MTU_V6) this.#dropIpv6(link);
    }
    if (alias !== undefined) link.alias = alias === '' ? undefined : alias;
    if (up !== undefined && up !== link.up) this.#setUp(link, up);
  }

  #setUp(link: SimLink, up: boolean): void {
    link.up = up;
    if (up) {
      if (link.kind === 'loopback') this.#addLoopbackAddresses(link);
      for (const { text, secondary } of link.addresses)
        if (!secondary) addConnectedRoute(this, link, text);
      return;
    }
    link.addresses = link.addresses.filter(({ text }) => !isV6(parseCidr(text)!));
    this.routes = this.routes.filter((route) => route.link !== link || route.scope === 'host');
    this.#dropNeighbors(link);
  }

  #addLoopbackAddresses(link: SimLink): void {
    const add = (text: string) => {
      if (link.addresses.some((known) => known.text === text)) return;
      link.addresses.push({ text, secondary: false });
    };
    add('127.0.0.1/8');
    if (!link.ipv6Disabled) add('::1/128');
  }

  addAddress(name: string, address: string): void {
    const where = `address ${address} of ${name}`;
    const link = this.link(name, where);
    const cidr = parseCidr(address)!;
    const text = formatCidr(cidr);
    const v6 = isV6(cidr);
    if (v6 && link.ipv6Disabled) throw linuxError('EACCES', where);
    const host = text.split('/')[0];
    const known = link.addresses.some((a) =>
      v6 ? a.text.split('/')[0] === host : a.text === text,
    );
    if (known) throw linuxError('EEXIST', where);
    const secondary =
      !v6 &&
      link.addresses.some((other) => {
        const present = parseCidr(other.text)!;
        return (
          !other.secondary && present.length === cidr.length && contains(present, cidr.address)
        );
      });
    link.addresses.push({ text, secondary });
    if (!secondary) addConnectedRoute(this, link, text);
  }

  deleteAddress(name: string, address: string): void {
    const where = `address ${address} of ${name}`;
    const link = this.link(name, where);
    const cidr = parseCidr(address)!;
    const text = formatCidr(cidr);
    const found = link.addresses.find((present) => present.text === text);
    if (!found) throw linuxError('EADDRNOTAVAIL', where);
    const v6 = isV6(cidr);
    link.addresses = link.addresses.filter((present) => {
      if (present === found) return false;
      if (v6 || found.secondary || !present.secondary) return true;
      const other = parseCidr(present.text)!;
      return other.length !== cidr.length || !contains(cidr, other.address);
    });
    deleteConnectedRoute(this, link, text);
    const lastOfV4 = !v6 && !link.addresses.some((a) => !isV6(parseCidr(a.text)!));
    if (!lastOfV4) return;
    dropRoutes(this, link, 4);
    this.#dropNeighbors(link, 4);
  }

  setNeighbor(entry: Omit<LinuxNeighbor, 'permanent'>): void {
    const where = `neighbor ${entry.address} dev ${entry.device}`;
    const link = this.link(entry.device, where);
    if (entry.address.includes(':') && link.ipv6Disabled) throw linuxError('EINVAL', where);
    this.#neighbors = this.#neighbors.filter(
      (known) => known.link !== link || known.address !== entry.address,
    );
    this.#neighbors.push({ address: entry.address, mac: entry.mac.toLowerCase(), link });
  }

  deleteNeighbor(device: string, address: string): void {
    const where = `neighbor ${address} dev ${device}`;
    const link = this.link(device, where);
    const left = this.#neighbors.filter((n) => n.link !== link || n.address !== address);
    if (left.length === this.#neighbors.length) throw linuxError('ENOENT', where);
    this.#neighbors = left;
  }

  #dropNeighbors(link: SimLink, family?: 4 | 6): void {
    this.#neighbors = this.#neighbors.filter(
      (known) =>
        known.link !== link ||
        (family !== undefined && known.address.includes(':') !== (family === 6)),
    );
  }

  /** Writes to `/proc/sys/net/…`; only `disable_ipv6` has an effect. */
  setSysctl(name: string, value: string): void {
    const where = `sysctl ${name}`;
    const parts = /^net\.(ipv4|ipv6)\.(conf|neigh)\.([^.]+)\.([a-z0-9_]+)$/.exec(name);
    const link = parts?.[3] ?? 'all';
    const exists =
      link === 'all' || link === 'default' || this.links.has(link.replaceAll('/', '.'));
    if (!(parts ? exists : generalSysctls.has(name))) throw linuxError('ENOENT', where);
    this.sysctls.set(name, value);
    if (parts?.[1] !== 'ipv6' || parts[4] !== 'disable_ipv6') return;
    const off = value.trim() !== '0';
    if (link === 'all' || link === 'default') this.#ipv6Disabled = off;
    if (link === 'default') return;
    for (const one of this.links.values()) {
      if (link === 'all' || one.name === link) this.#setIpv6Disabled(one, off);
    }
  }

  #setIpv6Disabled(link: SimLink, off: boolean): void {
    link.ipv6Disabled = off;
    if (off) this.#dropIpv6(link);
    else if (link.up && link.kind === 'loopback') this.#addLoopbackAddresses(link);
  }

  #dropIpv6(link: SimLink): void {
    link.addresses = link.addresses.filter(({ text }) => !isV6(parseCidr(text)!));
    dropRoutes(this, link, 6);
    this.#dropNeighbors(link, 6);
  }

  reports(): readonly LinkReport[] {
    return [...this.links.values()].sort((a, b) => a.index - b.index).map(reportOf);
  }

  findLinks(names: readonly string[]): readonly LinuxLink[] {
    return [...new Set(names)].flatMap((name) => {
      const link = this.links.get(name);
      return link ? [stateOf(link)] : [];
    });
  }

  state(): NamespaceState {
    return {
      links: [...this.links.values()].sort((a, b) => a.index - b.index).map(stateOf),
      routes: this.routes
        .map((route) => ({
          destination: formatCidr(network(route.to)),
          ...(route.gateway !== undefined && { gateway: route.gateway }),
          device: route.link.name,
          scope: route.scope,
          metric: route.metric,
          protocol: route.protocol,
        }))
        .sort(
          (a, b) =>
            compare(a.destination, b.destination) ||
            a.metric - b.metric ||
            compare(a.device, b.device),
        ),
      neighbors: this.#neighbors
        .map(({ address, mac, link }) => ({ address, mac, device: link.name, permanent: true }))
        .sort((a, b) => compare(a.device, b.device) || compare(a.address, b.address)),
    };
  }
}

function stateOf(link: SimLink): LinuxLink {
  return {
    index: link.index,
    name: link.name,
    kind: link.kind,
    up: link.up,
    running: isRunning(link),
    mtu: link.mtu,
    mac: link.mac,
    alias: link.alias,
    peerIndex: link.peer?.index,
    addresses: link.addresses.map((address) => address.text).sort(),
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A new link that is not attached to a namespace. */
export function newLink(
  namespace: LinkNamespace,
  name: string,
  kind: SimLink['kind'],
  mac: string,
): SimLink {
  const maxMtu = { loopback: 0xffff_ffff, veth: 65535, tun: 65521, ether: 9000 }[kind];
  return {
    namespace,
    index: 0,
    name,
    kind,
    up: false,
    mtu: kind === 'loopback' ? 65536 : 1500,
    mtuRange: [kind === 'loopback' ? 0 : 68, maxMtu],
    mac,
    alias: undefined,
    peer: undefined,
    carrier: false,
    addresses: [],
    ipv6Disabled: false,
    deleted: false,
  };
}
