/**
 * Nodes with everything real that share one etcd: each has its own network namespace, VPP and agent.
 * Two bridges in a namespace of their own join them: one carries what hosts and etcd talk about, the
 * other one joins the VPPs, each of which is bound to a link of it as its main interface.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeModel } from '#kubernetes/models/node.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { until } from '#test/support/wait.ts';
import type { AgentConfig } from './agent.ts';
import { RealEtcd } from './etcd.ts';
import { Netns } from './netns.ts';
import { type Networks, networks } from './networks.ts';
import { RealNode } from './node.ts';
import type { Endpoint, Place } from './traffic.ts';

const MANAGEMENT = '192.0.2';
/** The link of a node that its VPP takes as main interface. */
const UPLINK = 'uplink';

export interface ClusterOptions {
  readonly nodes: number;
  /** Of the pods and of the networks between the nodes; default 4. */
  readonly family?: 4 | 6;
  /** Keys of contiv.conf of all nodes, beyond those that the set-up needs. */
  readonly contiv?: AgentConfig['contiv'];
  /** `ipamConfig` of all nodes; default: the addresses that are named above. */
  readonly ipam?: Readonly<Record<string, unknown>>;
  /** Runs when the networks stand and no node does. */
  readonly before?: (cluster: RealCluster) => Promise<void>;
}

export interface ClusterNode {
  /** `node<n>`, n from 1 on in the order of joining; IDs are the agents' own choice. */
  readonly name: string;
  readonly node: RealNode;
  /** The host under its management address. */
  readonly host: Endpoint;
  /** What the agent says it is, once it serves. */
  readonly id: number;
  /** Where its VPP was reached when it joined. */
  readonly nodeIp: string;
}

export class RealCluster implements AsyncDisposable {
  readonly etcd: RealEtcd;
  readonly networks: Networks;
  /** A machine on the network of the VPPs that is no node. */
  readonly outside: Endpoint;
  readonly #options: ClusterOptions;
  readonly #folder: string;
  readonly #middle: Netns;
  readonly #outside: Netns;
  readonly #nodes = new Map<string, ClusterNode>();
  #joined = 0;

  /** A cluster all of whose nodes serve and know the way to each other. */
  static async create(options: ClusterOptions): Promise<RealCluster> {
    const cluster = new RealCluster(
      options,
      await Netns.create('middle'),
      await Netns.create('outside'),
    );
    try {
      await cluster.#build();
      await options.before?.(cluster);
      await Promise.all(Array.from({ length: options.nodes }, () => cluster.#launch()));
      await cluster.settled();
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return cluster;
  }

  private constructor(options: ClusterOptions, middle: Netns, outside: Netns) {
    this.#options = options;
    this.#folder = mkdtempSync(join(tmpdir(), 'cluster-'));
    this.#middle = middle;
    this.#outside = outside;
    this.etcd = new RealEtcd(middle, join(this.#folder, 'etcd'), `${MANAGEMENT}.1`);
    this.networks = networks[options.family ?? 4];
    this.outside = endpoint(outside, this.networks.outside.address);
  }

  /** In the order of joining. */
  get nodes(): readonly ClusterNode[] {
    return [...this.#nodes.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** One more node, that is known to all and knows all when this resolves. */
  async join(): Promise<ClusterNode> {
    const joined = await this.#launch();
    await this.settled();
    return joined;
  }

  /** The outside reaches the pods of a node at an address: there is no NAT. */
  async routeFromOutside({ id }: ClusterNode, nodeIp: string): Promise<void> {
    await this.#outside.run('ip', 'route', 'replace', this.networks.pods(id), 'via', nodeIp);
  }

  /** A node goes for good: its agent ends, and Kubernetes forgets it. */
  async leave({ name, node, id }: ClusterNode): Promise<void> {
    this.#nodes.delete(name);
    await node[Symbol.asyncDispose]();
    const { store } = this.etcd;
    await store.delete(REFLECTOR_PREFIX + resources.node.key(name, ''));
    await store.delete(REFLECTOR_PREFIX + resources.vppnode.key(String(id), ''));
    await this.settled();
  }

  /** Resolves when every node has ways to the others and to nobody else. */
  async settled(): Promise<void> {
    for (const one of this.nodes)
      await until(`${one.name} knows its neighbors`, async () => {
        one.node.agent.assertRunning();
        const fib = await one.node.vpp.cli(this.networks.fib(this.#tableOfNeighbors));
        const found = [...fib.matchAll(this.networks.podsInFib)].map(([, id]) => Number(id));
        const wanted = this.nodes.filter((other) => other !== one).map(({ id }) => id);
        const others = found.filter((id) => id !== one.id);
        return String(others.sort((a, b) => a - b)) === String(wanted.sort((a, b) => a - b));
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { node } of this.#nodes.values()) await node[Symbol.asyncDispose]();
    this.#nodes.clear();
    await this.etcd.close();
    await this.#outside.remove();
    await this.#middle.remove();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Without an overlay the other nodes are reached from the table of the NICs. */
  get #tableOfNeighbors(): number {
    return this.#options.contiv?.['nodeToNodeTransport'] === 'nooverlay' ? 0 : 1;
  }

  async #build(): Promise<void> {
    for (const bridge of ['mgmt', 'under']) {
      await this.#middle.run('ip', 'link', 'add', bridge, 'type', 'bridge');
      await this.#middle.run('ip', 'link', 'set', bridge, 'up');
    }
    await this.#middle.run('ip', 'addr', 'add', `${MANAGEMENT}.1/24`, 'dev', 'mgmt');
    await this.#plug(this.#outside, 'eth0', 'under', 'outside');
    // nobody behind AF_PACKET would complete its checksums
    await this.#outside.run('ethtool', '-K', 'eth0', 'tx', 'off');
    await addAddress(this.#outside, 'eth0', this.networks.outside);
    await this.etcd.start();
  }

  /** A link of a place to one of the bridges. */
  async #plug(place: Netns, name: string, bridge: string, port: string): Promise<void> {
    const peer = ['type', 'veth', 'peer', 'name', port, 'netns', this.#middle.path];
    await place.run('ip', 'link', 'add', name, ...peer);
    await place.run('ip', 'link', 'set', name, 'up');
    await this.#middle.run('ip', 'link', 'set', port, 'master', bridge, 'up');
  }

  async #launch(): Promise<ClusterNode> {
    const number = ++this.#joined;
    const name = `node${number}`;
    const host = this.networks.host(number);
    const node = await RealNode.create({
      label: name,
      etcd: this.etcd,
      contiv: {
        ...this.#options.contiv,
        ipamConfig: this.#options.ipam ?? this.networks.ipamConfig,
        nodeConfig: [{ nodeName: name, mainVPPInterface: { interfaceName: `host-${UPLINK}` } }],
      },
    });
    try {
      await this.#plug(node.netns, 'mgmt', 'mgmt', `m-${name}`);
      await addAddress(node.netns, 'mgmt', networks[4].host(number));
      if (this.networks !== networks[4]) await addAddress(node.netns, 'mgmt', host);
      await this.#plug(node.netns, UPLINK, 'under', `u-${name}`);
      await this.#tellOfNode(name, host.address);
      await node.agent.start();
      const { id, nodeIp } = await saysOf(node);
      const joined = { name, node, id, nodeIp, host: endpoint(node.netns, host.address) };
      this.#nodes.set(name, joined);
      await this.routeFromOutside(joined, nodeIp);
      return joined;
    } catch (error) {
      const tail = node.agent.tail();
      await node[Symbol.asyncDispose]();
      throw new Error(`${name} does not join: ${tail}`, { cause: error });
    }
  }

  /** As the reflector writes it. */
  async #tellOfNode(name: string, address: string): Promise<void> {
    const value = nodeModel.canonical({
      name,
      addresses: [
        { type: 'NodeHostName', address: name },
        { type: 'NodeInternalIP', address },
      ],
    });
    const key = REFLECTOR_PREFIX + resources.node.key(name, '');
    await this.etcd.store.put(key, valueText(resources.node, value));
  }
}

/** Without duplicate detection, which takes a second. */
async function addAddress(
  place: Netns,
  device: string,
  { address, length }: { readonly address: string; readonly length: number },
): Promise<void> {
  const nodad = address.includes(':') ? ['nodad'] : [];
  await place.run('ip', 'addr', 'add', `${address}/${length}`, 'dev', device, ...nodad);
}

function endpoint(place: Place, address: string): Endpoint {
  return { path: place.path, address, run: (...command) => place.run(...command) };
}

/** What a node says it is, as soon as it has an address. */
export async function saysOf(node: RealNode): Promise<{ id: number; nodeIp: string }> {
  let said: { nodeId: number; nodeIP: string } | undefined;
  await until('the node has an address', async () => {
    node.agent.assertRunning();
    const { status, body } = await node.agent.get('/contiv/v1/ipam');
    if (status === 200) said = body as typeof said;
    return status === 200;
  });
  return { id: said!.nodeId, nodeIp: said!.nodeIP };
}
