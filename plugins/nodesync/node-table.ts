import type { Slices } from '#infra/clock/slices.ts';
import { deepFreeze } from '#infra/collections/deep-freeze.ts';
import { SharedMap } from '#infra/collections/shared-map.ts';
import type { Node as KubeNode } from '#kubernetes/models/node.ts';
import type { VppNode } from '#kubernetes/models/vpp-node.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { formatCidr, formatIp, parseCidr, parseIp } from '#models/ip.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { Node } from './api.ts';

type KubeRecord = Pick<Node, 'managementAddresses' | 'podCidr'>;

const nothing: KubeRecord = deepFreeze({ managementAddresses: [], podCidr: '' });

/** Both kinds of node records, by key so that changes can be applied. */
export class NodeTable {
  readonly #vppNodes = new Map<string, VppNode>();
  readonly #kubeNodes = new SharedMap<string, KubeRecord>();

  /** Reads the state of the cluster. */
  static async read(state: KubeState, slices: Slices): Promise<NodeTable> {
    const table = new NodeTable();
    for (const [key, value] of state.get('vppnode') ?? []) {
      table.setVppNode(key, value);
      if (slices.due()) await slices.turn();
    }
    for (const [key, value] of state.get('node') ?? []) {
      table.setKubeNode(key, value);
      if (slices.due()) await slices.turn();
    }
    return table;
  }

  /** @param value canonical VppNode; undefined if the record was deleted */
  setVppNode(key: string, value: object | undefined): void {
    const record = value as VppNode | undefined;
    // a record with the key of another ID is ignored
    if (record && vppNodeId(key) === record.id) this.#vppNodes.set(key, record);
    else this.#vppNodes.delete(key);
  }

  /** @param value canonical Node; undefined if the record was deleted */
  setKubeNode(key: string, value: object | undefined): void {
    const name = resources.node.parseKey(key)?.name;
    if (name === undefined) return;
    if (value) this.#kubeNodes.set(name, kubeRecord(value as KubeNode));
    else this.#kubeNodes.delete(name);
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
    let record: VppNode | undefined;
    for (const one of this.#vppNodes.values())
      if (one.name === name && (!record || one.id < record.id)) record = one;
    return record && this.#join(record);
  }

  /** All nodes that have an ID, by name. */
  nodes(): Map<string, Node> {
    const nodes = new Map<string, Node>();
    for (const record of this.#vppNodes.values()) {
      const known = nodes.get(record.name);
      if (!known || record.id < known.id) nodes.set(record.name, this.#join(record));
    }
    return nodes;
  }

  #join(record: VppNode): Node {
    return {
      id: record.id,
      name: record.name,
      vppAddresses: vppAddresses(record),
      ...(this.#kubeNodes.get(record.name) ?? nothing),
    };
  }
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
