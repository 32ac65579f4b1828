import { contains, familyOf, type IpBytes, parseCidr, parseIp } from '#models/ip.ts';
import {
  type AddressRefusal,
  AddressRules,
  addressRefusal,
  NamesByAddress,
  type Node,
} from '#plugins/nodesync/api.ts';
import { type NodeInput, withoutPrefixLength } from './node-input.ts';
import { ownNetwork } from './own-network.ts';

/** Of a host, and of a VPP: a peer of WireGuard has up to 255 networks, those of the address plan included. */
export const MAX_ADDRESSES = 120;

interface RefusedAddress {
  readonly address: string;
  readonly refusal: AddressRefusal;
}

/**
 * Decides which addresses of other nodes become routes and ends of tunnels. No route leads to an address that this
 * node uses, to which the tunnel of another node leads, or that several nodes have.
 */
export class RemoteAddresses {
  readonly #input: NodeInput;
  readonly #rules: AddressRules;
  readonly #nodes = new Map<string, Node>();
  readonly #hosts = new NamesByAddress();
  readonly #vpps = new NamesByAddress();

  constructor(input: NodeInput) {
    this.#input = input;
    this.#rules = new AddressRules(ownNetwork(input));
  }

  /**
   * Replaces the addresses of a node, also of this one.
   * @param node undefined: it has left
   * @returns names of the nodes about whose addresses the decision may be another one now
   */
  set(name: string, node: Node | undefined): Set<string> {
    if (node === undefined) this.#nodes.delete(name);
    else this.#nodes.set(name, node);
    const affected = new Set([name]);
    const addAll = (names: readonly string[]): void => {
      for (const one of names) affected.add(one);
    };
    for (const address of this.#hosts.set(name, node?.managementAddresses ?? [])) {
      // the decision is the same for three nodes and for a thousand
      const names = this.#hosts.namesOf(address);
      if (names.length <= 3) addAll([...names, ...this.#vpps.namesOf(address)]);
    }
    for (const address of this.#vpps.set(name, node?.vppAddresses.map(withoutPrefixLength) ?? [])) {
      const names = this.#vpps.namesOf(address);
      if (names.length <= 3) addAll([...names, ...this.#hosts.namesOf(address)]);
    }
    return affected;
  }

  node(name: string): Node | undefined {
    return this.#nodes.get(name);
  }

  /** Addresses of the host of another node that get routes, of the families of the pods. */
  routes(node: Node): readonly string[] {
    const isOfPods = (address: string): boolean =>
      this.#input.networks.some(({ family }) => family === familyOf(address));
    return node.managementAddresses
      .slice(0, MAX_ADDRESSES)
      .filter((address) => isOfPods(address) && this.#whyNoRoute(node, address) === undefined);
  }

  /** Addresses of the VPP of another node at which it can be reached, without prefix length. */
  tunnelEnds(node: Node): readonly string[] {
    return node.vppAddresses
      .slice(0, MAX_ADDRESSES)
      .filter((text) => this.#whyNoTunnel(text) === undefined)
      .map(withoutPrefixLength);
  }

  /**
   * Those of the tunnel ends that are also accepted as sources of packets from the node: by an address of another node or of the
   * overlay, it would take over their packets.
   */
  sources(node: Node): readonly string[] {
    return this.tunnelEnds(node).filter((one) => this.#whyNoRoute(node, one) === undefined);
  }

  refusedSources(node: Node): readonly RefusedAddress[] {
    return refused(this.tunnelEnds(node), (one) => this.#whyNoRoute(node, one));
  }

  refusedTunnelEnds(node: Node): readonly RefusedAddress[] {
    return refused(node.vppAddresses, (text) => this.#whyNoTunnel(text));
  }

  refusedRoutes(node: Node): readonly RefusedAddress[] {
    return refused(node.managementAddresses, (address) => this.#whyNoRoute(node, address));
  }

  #whyNoTunnel(text: string): AddressRefusal | undefined {
    const address = parseCidr(text)?.address;
    if (address === undefined && parseIp(text) !== undefined)
      return addressRefusal('without prefix length');
    return this.#rules.whyNot('tunnel end', address);
  }

  #whyNoRoute(node: Node, address: string): AddressRefusal | undefined {
    const bytes = parseIp(address);
    const refusal = this.#rules.whyNot('route', bytes);
    // a host has an address on its own link to VPP
    const isOfLink = refusal?.reason === 'host link subnet' && this.#isOfLink(node, bytes!);
    if (refusal !== undefined && !isOfLink) return refusal;
    const isOther = (name: string): boolean => name !== node.name;
    const tunnel = this.#vpps.namesOf(address).find(isOther);
    if (tunnel !== undefined) return addressRefusal('end of a tunnel', tunnel);
    const [host, ...more] = this.#hosts.namesOf(address).filter(isOther);
    if (host === undefined) return undefined;
    return more.length === 0
      ? addressRefusal('another node', host)
      : addressRefusal('several nodes');
  }

  #isOfLink({ id }: Node, address: IpBytes): boolean {
    return this.#input.networks.some(({ addresses }) => {
      const subnet = parseCidr(addresses.hostInterconnectSubnetOtherNode(id));
      return subnet !== undefined && contains(subnet, address);
    });
  }
}

/** Of those beyond the limit the first one alone. */
function refused(
  addresses: readonly string[],
  whyNot: (address: string) => AddressRefusal | undefined,
): RefusedAddress[] {
  return addresses.slice(0, MAX_ADDRESSES + 1).flatMap((address, index) => {
    const refusal = index < MAX_ADDRESSES ? whyNot(address) : addressRefusal('beyond the limit');
    return refusal === undefined ? [] : [{ address, refusal }];
  });
}
