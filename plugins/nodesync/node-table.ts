import type { Slices } from '#infra/clock/slices.ts';
import { deepFreeze } from '#infra/collections/deep-freeze.ts';
import { SharedMap } from '#infra/collections/shared-map.ts';
import type { CodedError } from '#infra/errors/errors.ts';
import type { Node as KubeNode } from '#kubernetes/models/node.ts';
import type { VppNode } from '#kubernetes/models/vpp-node.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { formatCidr, formatIp, parseCidr, parseIp } from '#models/ip.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { Node } from './api.ts';
import { nodeAddressError, whyNoNodeAddress } from './node-addresses.ts';

type KubeRecord = Pick<Node, 'managementAddresses' | 'podCidr'>;

const nothing: KubeRecord = deepFreeze({ managementAddresses: [], podCidr: '' });

/** Both kinds of node records, by key so that changes can be applied, and the nodes that they describe. */
export class NodeTable {
  /** Key of a record to the reason why it is not used; the last valid one is kept. */
  readonly #invalid = new Map<string, CodedError>();
  readonly #vppNodes = new Map<string, VppNode>();
  /** Node name to the keys of its records in `#vppNodes`: usually one. */
  readonly #vppKeys = new Map<string, ReadonlySet<string>>();
  readonly #kubeNodes = new SharedMap<string, KubeRecord>();
  readonly #nodes = new SharedMap<string, Node>();

  /**
   * Reads the state of the cluster.
   * @param before its valid records are kept where the present ones are invalid
   */
  static async read(state: KubeState, slices: Slices, before: NodeTable): Promise<NodeTable> {
    const table = new NodeTable();
    for (const [key, value] of state.get('vppnode') ?? []) {
      const last = before.#vppNodes.get(key);
      if (last) table.#putVppNode(key, last);
      table.setVppNode(key, value);
      if (slices.due()) await slices.turn();
    }
    for (const [key, value] of state.get('node') ?? []) {
      const name = resources.node.parseKey(key)?.name;
      const last = name === undefined ? undefined : before.#kubeNodes.get(name);
      if (name !== undefined && last) table.#kubeNodes.set(name, last);
      table.setKubeNode(key, value);
      if (slices.due()) await slices.turn();
    }
    return table;
  }

  /** @param value canonical VppNode; undefined if the record was deleted */
  setVppNode(key: string, value: object | undefined): void {
    const record = value as VppNode | undefined;
    this.#invalid.delete(key);
    // a record with the key of another ID is ignored
    if (!record || vppNodeId(key) !== record.id) {
      this.#putVppNode(key, undefined);
      return;
    }
    const reason = firstReason(vppAddresses(record));
    if (reason !== undefined) this.#reject(key, record.name, reason);
    // the address of an earlier holder of the ID is not that of this node
    const isOther = this.#vppNodes.get(key)?.name !== record.name;
    if (reason === undefined) this.#putVppNode(key, record);
    else if (isOther)
      this.#putVppNode(key, {
        ...record,
        ip_address: '',
        ip_addresses: validOf(vppAddresses(record)),
      });
  }

  /** @param value canonical Node; undefined if the record was deleted */
  setKubeNode(key: string, value: object | undefined): void {
    const name = resources.node.parseKey(key)?.name;
    if (name === undefined) return;
    this.#invalid.delete(key);
    if (!value) {
      this.#kubeNodes.delete(name);
      this.#join(name);
      return;
    }
    const record = kubeRecord(value as KubeNode);
    const reason = firstReason(record.managementAddresses);
    if (reason === undefined) this.#kubeNodes.set(name, record);
    else {
      this.#reject(key, name, reason);
      const managementAddresses = validOf(record.managementAddresses);
      if (!this.#kubeNodes.has(name))
        this.#kubeNodes.set(name, deepFreeze({ ...record, managementAddresses }));
    }
    this.#join(name);
  }

  /** Keys of the records with invalid addresses. */
  invalid(): ReadonlyMap<string, CodedError> {
    return this.#invalid;
  }

  #reject(key: string, name: string, reason: string): void {
    this.#invalid.set(key, nodeAddressError(name, reason, key));
  }

  /** The record of an ID in the cluster. */
  holder(id: number): VppNode | undefined {
    return this.#vppNodes.get(resources.vppnode.key(String(id), ''));
  }

  /** Data of the Node object; undefined if there is none. */
  kubeNode(name: string): KubeRecord | undefined {
    return this.#kubeNodes.get(name);
  }

  /** A node that has an ID; of several IDs, the lowest. */
  node(name: string): Node | undefined {
    return this.#nodes.get(name);
  }

  /** All nodes that have an ID, by name; follows changes. */
  nodes(): ReadonlyMap<string, Node> {
    return this.#nodes.view;
  }

  #putVppNode(key: string, record: VppNode | undefined): void {
    const before = this.#vppNodes.get(key)?.name;
    if (record === undefined) this.#vppNodes.delete(key);
    else this.#vppNodes.set(key, record);
    if (before !== undefined && before !== record?.name) {
      const rest = new Set(this.#vppKeys.get(before));
      rest.delete(key);
      if (rest.size === 0) this.#vppKeys.delete(before);
      else this.#vppKeys.set(before, rest);
      this.#join(before);
    }
    if (record === undefined) return;
    this.#vppKeys.set(record.name, new Set([...(this.#vppKeys.get(record.name) ?? []), key]));
    this.#join(record.name);
  }

  /** Builds a node again from its records. */
  #join(name: string): void {
    let record: VppNode | undefined;
    for (const key of this.#vppKeys.get(name) ?? []) {
      const one = this.#vppNodes.get(key);
      if (one !== undefined && (!record || one.id < record.id)) record = one;
    }
    if (record === undefined) {
      this.#nodes.delete(name);
      return;
    }
    this.#nodes.set(name, {
      id: record.id,
      name,
      vppAddresses: vppAddresses(record),
      ...(this.#kubeNodes.get(name) ?? nothing),
    });
  }
}

function validOf(addresses: readonly string[]): string[] {
  return addresses.filter((address) => whyNoNodeAddress(address) === undefined);
}

function firstReason(addresses: readonly string[]): string | undefined {
  return addresses.map(whyNoNodeAddress).find((reason) => reason !== undefined);
}

/** ID in the key of a VppNode. */
function vppNodeId(key: string): number {
  return Number(resources.vppnode.parseKey(key)?.name);
}

/** CIDRs of a record, the obsolete single address last; invalid ones are ignored. */
export function vppAddresses(record: VppNode): string[] {
  const addresses: string[] = [];
  for (const text of [...record.ip_addresses, record.ip_address]) {
    const cidr = parseCidr(text);
    if (cidr && !addresses.includes(formatCidr(cidr))) addresses.push(formatCidr(cidr));
  }
  return addresses;
}

function kubeRecord(node: KubeNode): KubeRecord {
  const managementAddresses: string[] = [];
  for (const { type, address } of node.addresses) {
    if (type !== 'NodeInternalIP' && type !== 'NodeExternalIP') continue;
    const bytes = parseIp(address);
    if (bytes && !managementAddresses.includes(formatIp(bytes)))
      managementAddresses.push(formatIp(bytes));
  }
  return { managementAddresses, podCidr: parseCidr(node.pod_CIDR) ? node.pod_CIDR : '' };
}
