import type { Slices } from '#infra/clock/slices.ts';
import { deepFreeze } from '#infra/collections/deep-freeze.ts';
import { SharedMap } from '#infra/collections/shared-map.ts';
import type { Node as KubeNode } from '#kubernetes/models/node.ts';
import type { VppNode } from '#kubernetes/models/vpp-node.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { parseCidr } from '#models/ip.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { Node } from './api.ts';

type KubeRecord = Pick<Node, 'managementAddresses' | 'podCidr'>;

const nothing: KubeRecord = deepFreeze({ managementAddresses: [], podCidr: '' });

/** Both kinds of node records, by key so that changes can be applied, and the nodes that they describe. */
export class NodeTable {
  readonly #vppNodes = new Map<string, VppNode>();
  /** Node name to the keys of its records in `#vppNodes`: usually one. */
  readonly #vppKeys = new Map<string, ReadonlySet<string>>();
  readonly #kubeNodes = new SharedMap<string, KubeRecord>();
  readonly #nodes = new SharedMap<string, Node>();
  /** Names in `#vppKeys` that no Node object can have. */
  readonly #capitalized = new Set<string>();

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
    this.#putVppNode(key, record && vppNodeId(key) === record.id ? record : undefined);
  }

  /** @param value canonical Node; undefined if the record was deleted */
  setKubeNode(key: string, value: object | undefined): void {
    const name = resources.node.parseKey(key)?.name;
    if (name === undefined) return;
    if (value) this.#kubeNodes.set(name, kubeRecord(value as KubeNode));
    else this.#kubeNodes.delete(name);
    for (const one of [name, ...this.namesakes(name)]) this.#join(one);
  }

  /** Nodes with an ID whose names differ from that of a Node object only in case. */
  namesakes(kubeName: string): string[] {
    return [...this.#capitalized].filter((name) => name.toLowerCase() === kubeName);
  }

  /** Name of the Node object that differs from a name only in case; undefined if there is no need for one. */
  namesake(name: string): string | undefined {
    const kubeName = name.toLowerCase();
    return this.#kubeNodes.has(kubeName) && !this.#kubeNodes.has(name) ? kubeName : undefined;
  }

  /** The record of an ID in the cluster. */
  holder(id: number): VppNode | undefined {
    return this.#vppNodes.get(resources.vppnode.key(String(id), ''));
  }

  /** Data of the Node object; undefined if there is none. */
  kubeNode(name: string): KubeRecord | undefined {
    return this.#kubeNodes.get(name);
  }

  /** Addresses of the host of a node that are in no other Node object: those tell where a pod runs. */
  uniqueAddresses(name: string): string[] {
    const others = new Set<string>();
    for (const [other, { managementAddresses }] of this.#kubeNodes.view)
      if (other !== name) for (const address of managementAddresses) others.add(address);
    const own = this.#kubeNodes.get(name)?.managementAddresses ?? [];
    return own.filter((address) => !others.has(address));
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
      if (rest.size === 0) {
        this.#vppKeys.delete(before);
        this.#capitalized.delete(before);
      } else this.#vppKeys.set(before, rest);
      this.#join(before);
    }
    if (record === undefined) return;
    const { name } = record;
    this.#vppKeys.set(name, new Set([...(this.#vppKeys.get(name) ?? []), key]));
    if (name !== name.toLowerCase()) this.#capitalized.add(name);
    this.#join(name);
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
    const namesake = this.namesake(name);
    this.#nodes.set(name, {
      id: record.id,
      name,
      vppAddresses: vppAddresses(record),
      ...(record.wireguard && { wireguard: record.wireguard }),
      ...(this.#kubeNodes.get(name) ?? nothing),
      ...(namesake !== undefined && { namesake }),
    });
  }
}

/** ID in the key of a VppNode. */
function vppNodeId(key: string): number {
  return Number(resources.vppnode.parseKey(key)?.name);
}

/** Addresses of a record as they are there, the obsolete single one last. */
export function vppAddresses(record: VppNode): string[] {
  const texts = new Set([...record.ip_addresses, record.ip_address]);
  return [...texts].filter((text) => text !== '');
}

function kubeRecord({ addresses, pod_CIDR }: KubeNode): KubeRecord {
  const ofHost = addresses.filter(
    ({ type }) => type === 'NodeInternalIP' || type === 'NodeExternalIP',
  );
  return {
    managementAddresses: [...new Set(ofHost.map(({ address }) => address))],
    podCidr: parseCidr(pod_CIDR) ? pod_CIDR : '',
  };
}
