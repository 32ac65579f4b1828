import { type Cidr, formatCidr, parseCidr, parseIp } from '#models/ip.ts';
import { toAddress, toMac } from '#vpp/binapi/addresses.ts';
import type { DhcpClient, DhcpClientDetails } from '#vpp/binapi/messages.gen.ts';
import type { Peer } from '#vpp/binapi/server.ts';
import type { Addresses } from './addresses.ts';
import { type Fib, type FibTable, pathOf, source } from './fib.ts';
import { IndexPool, type Interfaces, type SimInterface } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { retval } from './retval.ts';

const state = { discover: 0, bound: 2 };
const anywhere: Cidr = { address: new Uint8Array(4), length: 0 };
const noAddress = { af: 0, un: new Uint8Array(16) };

export interface DhcpOffer {
  /** With mask length. */
  readonly address: string;
  readonly router?: string;
}

/** A DHCP server that is reachable over every link of a simulated VPP. It outlives VPP. */
export class SimDhcpServer {
  readonly #offers = new Map<string, DhcpOffer>();
  /** Called with the name of an interface whose offer was changed or withdrawn. */
  onChange: (name: string) => void = () => undefined;

  /**
   * Sets the offer for the client on an interface.
   * @param name tag of the interface, or VPP's name
   * @param offer undefined: the lease expires
   */
  offer(name: string, offer: DhcpOffer | undefined): void {
    if (offer) this.#offers.set(name, offer);
    else this.#offers.delete(name);
    this.onChange(name);
  }

  offerFor(name: string): DhcpOffer | undefined {
    return this.#offers.get(name);
  }
}

interface Installed {
  readonly address: Cidr;
  readonly router: string | undefined;
  readonly table: FibTable;
}

interface Client {
  readonly poolIndex: number;
  readonly config: DhcpClient;
  readonly owner: Peer;
  /** Known after the first packet. */
  mac: string | undefined;
  installed: Installed | undefined;
  /** The last router that was offered; reset when the lease is lost. */
  router: string | undefined;
}

/**
 * DHCP clients. A client is bound to the index of its interface: it stays when the interface is
 * deleted. Its events are sent to the API client that configured it, while that is connected.
 */
export class Dhcp {
  readonly #interfaces: Interfaces;
  readonly #addresses: Addresses;
  readonly #fib: Fib;
  readonly #server: SimDhcpServer;
  readonly #pool = new IndexPool();
  readonly #clients = new Map<number, Client>();
  readonly #disconnected = new Set<Peer>();

  constructor(deps: {
    interfaces: Interfaces;
    addresses: Addresses;
    fib: Fib;
    server: SimDhcpServer;
  }) {
    this.#interfaces = deps.interfaces;
    this.#addresses = deps.addresses;
    this.#fib = deps.fib;
    this.#server = deps.server;
    this.#interfaces.onAdmin(({ index }) => this.#requestLease(index));
    this.#server.onChange = (name) => {
      for (const index of this.#clients.keys())
        if (this.#interfaces.nameOf(index) === name) this.#requestLease(index);
    };
  }

  forget(peer: Peer): void {
    this.#disconnected.add(peer);
  }

  /** Requests a lease from the server and applies it, if the interface is up. */
  #requestLease(index: number): void {
    const client = this.#clients.get(index);
    const iface = this.#interfaces.get(index);
    if (!client || !iface?.adminUp || !iface.linkUp) return;
    client.mac = iface.mac;
    const offer = this.#server.offerFor(this.#interfaces.nameOf(index));
    const before = client.installed;
    const address = offer && parseCidr(offer.address);
    if (!address) {
      this.#release(client, iface);
      client.router = undefined;
      return;
    }
    client.router = offer.router ?? client.router;
    const sameAddress = before && formatCidr(before.address) === formatCidr(address);
    if (!sameAddress || before.router !== client.router) {
      this.#release(client, iface);
      this.#install(client, iface, address);
    }
    if (!client.config.want_dhcp_event || this.#disconnected.has(client.owner)) return;
    const { pid } = client.config;
    client.owner.sendEvent('dhcp_compl_event', { pid, lease: details(client).lease });
  }

  #install(client: Client, iface: SimInterface, address: Cidr): void {
    const { router } = client;
    const table = this.#addresses.tableOf(iface, 4);
    this.#addresses.lease(iface, address, true);
    if (router !== undefined)
      this.#fib.addPaths(table, anywhere, source.dhcp, [this.#routePath(iface, router)]);
    client.installed = { address, router, table };
  }

  #release(client: Client, iface: SimInterface): void {
    const { installed } = client;
    if (!installed) return;
    client.installed = undefined;
    this.#addresses.lease(iface, installed.address, false);
    const { router, table } = installed;
    if (router !== undefined)
      this.#fib.removePaths(table, anywhere, source.dhcp, [this.#routePath(iface, router)]);
  }

  #routePath({ index }: SimInterface, router: string) {
    const nextHop = new Uint8Array(16);
    nextHop.set(parseIp(router)!);
    return pathOf(4, { sw_if_index: index, nextHop });
  }

  handlers(): MessageHandlers {
    return {
      requests: {
        dhcp_client_config: ({ is_add, client: config }, owner) => {
          const { sw_if_index } = config;
          const iface = this.#interfaces.get(sw_if_index);
          if (!iface) return retval.INVALID_SW_IF_INDEX;
          const known = this.#clients.get(sw_if_index);
          if ((known !== undefined) === is_add) return retval.INVALID_VALUE;
          if (known) {
            this.#release(known, iface);
            this.#clients.delete(sw_if_index);
            this.#pool.release(known.poolIndex);
            return 0;
          }
          const poolIndex = this.#pool.allocate();
          const nothing = { mac: undefined, installed: undefined, router: undefined };
          this.#clients.set(sw_if_index, { poolIndex, config, owner, ...nothing });
          queueMicrotask(() => this.#requestLease(sw_if_index));
          return 0;
        },
      },
      dumps: {
        dhcp_client_dump: () =>
          [...this.#clients.values()].sort((a, b) => a.poolIndex - b.poolIndex).map(details),
      },
      snapshot: () => ({
        dhcpClients: [...this.#clients.keys()]
          .map((index) => this.#interfaces.nameOf(index))
          .sort(),
      }),
    };
  }
}

function details({ config, mac, installed }: Client): DhcpClientDetails {
  return {
    client: config,
    lease: {
      sw_if_index: config.sw_if_index,
      state: installed ? state.bound : state.discover,
      is_ipv6: false,
      hostname: config.hostname,
      mask_width: installed?.address.length ?? 0,
      host_address: installed ? toAddress(formatCidr(installed.address).split('/')[0]!) : noAddress,
      router_address: installed?.router === undefined ? noAddress : toAddress(installed.router),
      host_mac: toMac(mac ?? '00:00:00:00:00:00'),
      domain_server: [],
    },
  };
}
