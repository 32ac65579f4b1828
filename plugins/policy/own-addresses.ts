/**
 * The addresses of nodes that no Node object has: at both ends of the link between VPP and the host, at the NICs and the overlay of
 * VPP, and the gateway of the pods. Pods reach the node by them, too. Most follow from the ID of the node.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Slices } from '#infra/clock/slices.ts';
import { parseIp } from '#models/ip.ts';
import { podGatewayOf, unusableNodeIds } from '#plugins/ipam/api.ts';
import { AddressRules, type Node, type OwnNetwork } from '#plugins/nodesync/api.ts';
import type { OwnAddresses } from './cache/node-table.ts';
import { type PolicyNodeDeps, policyNode } from './policy-node.ts';

/** All nodes with an ID, by the names of their Node objects: records may be left of a name that differs in case. */
export class NodesByObject {
  readonly #deps: PolicyNodeDeps;
  readonly #nodes = new Map<string, Node>();
  /** Names of nodes by that of their object. */
  readonly #names = new Map<string, Set<string>>();
  /** With which the addresses that nodes announce were judged. */
  #network: OwnNetwork;

  static async read(deps: PolicyNodeDeps, slices: Slices): Promise<NodesByObject> {
    const found = new NodesByObject(deps);
    for (const name of deps.nodes.allNodes().keys()) {
      found.#refresh(name);
      if (slices.due()) await slices.turn();
    }
    return found;
  }

  private constructor(deps: PolicyNodeDeps) {
    this.#deps = deps;
    this.#network = deps.net.ownNetwork();
  }

  /**
   * A node has joined, changed or left.
   * @returns the names of the objects that may have other addresses; all, if this node uses other ones itself
   */
  changed(name: string): Iterable<string> {
    const concerned = this.#refresh(name);
    const network = this.#deps.net.ownNetwork();
    if (isDeepStrictEqual(network, this.#network)) return concerned;
    this.#network = network;
    return new Set([...concerned, ...this.#names.keys()]);
  }

  async addresses(slices: Slices): Promise<OwnAddresses> {
    const addressesOf = this.addressesOf();
    const all = new Map<string, readonly string[]>();
    for (const object of this.#names.keys()) {
      all.set(object, addressesOf(object));
      if (slices.due()) await slices.turn();
    }
    return all;
  }

  /** Of the nodes that have an object, as the network of this node is now. */
  addressesOf(): (object: string) => readonly string[] {
    const addressesOf = ownAddressesOf(this.#deps);
    return (object) => {
      const names = [...(this.#names.get(object) ?? [])];
      const all = names.flatMap((name) => addressesOf(this.#nodes.get(name) as Node));
      return [...new Set(all)].sort();
    };
  }

  /** @returns the names of the objects that the node had and has */
  #refresh(name: string): Set<string> {
    const before = this.#nodes.get(name);
    const current = this.#deps.nodes.allNodes().get(name);
    if (before !== undefined) {
      const names = this.#names.get(objectName(before));
      names?.delete(name);
      if (names?.size === 0) this.#names.delete(objectName(before));
    }
    if (current === undefined) this.#nodes.delete(name);
    else {
      this.#nodes.set(name, current);
      const object = objectName(current);
      this.#names.set(object, (this.#names.get(object) ?? new Set()).add(name));
    }
    return new Set([before, current].flatMap((node) => (node ? objectName(node) : [])));
  }
}

/** Of one node; the link to the host is its whole subnet, so that those of many nodes are one prefix. */
function ownAddressesOf(deps: PolicyNodeDeps): (node: Node) => readonly string[] {
  const { nodes, ipam, net } = deps;
  const own = nodes.thisNode().id;
  const whyUnusable = unusableNodeIds(ipam.settings(), net.defaultGateways());
  const rules = new AddressRules(net.ownNetwork());
  const hasOverlay = net.overlayInterfaces().length > 0;
  return ({ id, vppAddresses }) => {
    const announced = vppAddresses.map(withoutPrefixLength);
    // an address of a record that leads elsewhere is none of the node
    const ofRecord =
      id === own
        ? policyNode(deps).addresses
        : announced.filter((one) => rules.whyNot('tunnel end', parseIp(one)) === undefined);
    if (whyUnusable(id) !== undefined) return ofRecord;
    const computed = ipam
      .families()
      .flatMap((plan) => [
        plan.hostInterconnectSubnetOtherNode(id),
        podGatewayOf(plan.podSubnetOtherNode(id)),
        ...(hasOverlay && plan.vxlanSubnet() !== ''
          ? [withoutPrefixLength(plan.vxlanAddress(id))]
          : []),
      ]);
    return [...ofRecord, ...computed];
  };
}

/** The name of the Node object of a node. */
function objectName({ name, namesake = name }: Node): string {
  return namesake;
}

function withoutPrefixLength(cidr: string): string {
  return cidr.split('/')[0] ?? '';
}
