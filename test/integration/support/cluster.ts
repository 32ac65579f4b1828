/**
 * Real nodes that share one etcd: each has its own network namespace, VPP and agent. Two bridges in a
 * separate namespace connect them: one carries the traffic of hosts and etcd, the other one connects
 * the VPPs, whose main interfaces are bound to its links.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nodeModel } from '#kubernetes/models/node.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import type { FakeStnDaemon } from '#test/stn/fake-daemon.ts';
import { until } from '#test/support/wait.ts';
import type { AgentConfig, Links } from './agent.ts';
import { RealEtcd } from './etcd.ts';
import { Netns } from './netns.ts';
import { bothFamilies, type Networks, networks } from './networks.ts';
import { RealNode } from './node.ts';
import { stolenUplink } from './stolen-uplink.ts';
import { SysFs } from './sys-fs.ts';
import type { Endpoint, NetworkNamespace } from './traffic.ts';

const MANAGEMENT = '192.0.2';
/** The link of a node to which the main interface of its VPP is bound. */
const UPLINK = 'uplink';
/** VPP's name for its main interface where that is a TAP. */
const UPLINK_TAP = 'tap7';

export interface ClusterOptions {
  readonly nodes: number;
  /** Of the pods and of the networks between the nodes; default 4. */
  readonly family?: 4 | 6;
  /** Whether pods and nodes have addresses of the other family, too. */
  readonly isDual?: boolean;
  /** Additional keys of contiv.conf of all nodes. */
  readonly contiv?: AgentConfig['contiv'];
  /** Keys of service.conf of all nodes. */
  readonly service?: AgentConfig['service'];
  /** Whether each node has services at sockets, for the processes in the control group of its `sysFs`. */
  readonly sockets?: boolean;
  readonly links?: Links;
  /** Default gateway of the VPPs. */
  readonly gateway?: string;
  /** Whether each VPP has taken its uplink from the host (STN), which shares the address; default: no. */
  readonly stn?: boolean;
  /** By the name of the node. */
  readonly zones?: Readonly<Record<string, string>>;
  /** `ipamConfig` of all nodes; default: the addresses that are named above. */
  readonly ipam?: Readonly<Record<string, unknown>>;
  /** Device of VPP's main interface: bound to a link (default), or a TAP that exists before the agent. */
  readonly uplink?: 'AF_PACKET' | 'TAP' | 'TAP with GSO';
  /** Threads of each VPP beside the main one; default 0. */
  readonly workers?: number;
  /** Runs after the networks are created and before the first node starts. */
  readonly before?: (cluster: RealCluster) => Promise<void>;
  /** Announces a node to the agents; default: its record is written to etcd. */
  readonly register?: (name: string, address: string) => Promise<void>;
}

export interface ClusterNode {
  /** `node<n>`, n from 1 in the order of joining; agents allocate their IDs themselves. */
  readonly name: string;
  readonly node: RealNode;
  /** The host at its management address. */
  readonly host: Endpoint;
  /** Node ID that the agent allocated. */
  readonly id: number;
  /** Address of its VPP when it joined. */
  readonly nodeIp: string;
  /** One of each family, `nodeIp` first. */
  readonly nodeIps: readonly string[];
  /** undefined: without services at sockets. */
  readonly sysFs: SysFs | undefined;
}

export class RealCluster implements AsyncDisposable {
  readonly etcd: RealEtcd;
  readonly networks: Networks;
  /** A machine on the network of the VPPs that is not a node. */
  readonly outside: Endpoint;
  /** A machine on the network of the hosts that is not a node. */
  readonly management: Endpoint;
  readonly #options: ClusterOptions;
  readonly #folder: string;
  readonly #core: Netns;
  readonly #outside: Netns;
  readonly #nodes = new Map<string, ClusterNode>();
  /** Of the nodes, with STN. */
  readonly #daemons: FakeStnDaemon[] = [];
  #joined = 0;

  /** A cluster whose nodes are all ready and have routes to each other. */
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
    this.#core = middle;
    this.#outside = outside;
    this.etcd = new RealEtcd(middle, join(this.#folder, 'etcd'), `${MANAGEMENT}.1`);
    const family = options.family ?? 4;
    this.networks = options.isDual ? bothFamilies(family) : networks[family];
    this.management = endpoint(middle, `${MANAGEMENT}.1`);
    this.outside = endpoint(outside, this.networks.outside.address);
  }

  /** In the order of joining. */
  get nodes(): readonly ClusterNode[] {
    return [...this.#nodes.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Adds a node; resolves when all nodes have routes to each other. */
  async join(): Promise<ClusterNode> {
    const joined = await this.#launch();
    await this.settled();
    return joined;
  }

  /** Routes the pods of a node from outside through an address. */
  routeFromOutside({ id }: ClusterNode, nodeIp: string): Promise<void> {
    return this.routeOutside(this.networks.pods(id), nodeIp);
  }

  async routeOutside(destination: string, gateway: string): Promise<void> {
    await this.#outside.run('ip', 'route', 'replace', destination, 'via', gateway);
  }

  /** The machine outside knows a neighbor permanently, or as other machines do. */
  async keepNeighbor(address: string, kept: boolean): Promise<void> {
    await this.#outside.run('ping', '-c1', '-W5', address);
    const line = await this.#outside.run('ip', 'neighbor', 'show', 'to', address);
    const [, device = '', link = ''] = /dev (\S+) lladdr (\S+)/.exec(line) ?? [];
    const entry = [address, 'lladdr', link, 'dev', device];
    await this.#outside.run(
      'ip',
      'neighbor',
      'replace',
      ...entry,
      'nud',
      kept ? 'permanent' : 'reachable',
    );
    if (!kept) await this.#outside.run('ip', 'neighbor', 'flush', 'to', address);
  }

  /** Gives one more address to the machine outside. */
  async addOutsideAddress(address: string): Promise<void> {
    await this.#outside.run('ip', 'address', 'add', `${address}/32`, 'dev', 'lo');
  }

  /** Removes a node: ends its agent and deletes its records. */
  async leave({ name, node, id, sysFs }: ClusterNode): Promise<void> {
    this.#nodes.delete(name);
    await node[Symbol.asyncDispose]();
    sysFs?.[Symbol.dispose]();
    const { store } = this.etcd;
    await store.delete(REFLECTOR_PREFIX + resources.node.key(name, ''));
    await store.delete(REFLECTOR_PREFIX + resources.vppnode.key(String(id), ''));
    await this.settled();
  }

  /** Resolves when every node has routes to all other nodes and to no removed one. */
  async settled(): Promise<void> {
    for (const one of this.nodes)
      await until(`${one.name} has routes to all other nodes`, async () => {
        one.node.agent.assertRunning();
        const fib = await one.node.vpp.cli(this.networks.fib(this.#tableOfNeighbors));
        const found = [...fib.matchAll(this.networks.podsInFib)].map(([, id]) => Number(id));
        const expected = this.nodes.filter((other) => other !== one).map(({ id }) => id);
        const others = found.filter((id) => id !== one.id);
        return String(others.sort((a, b) => a - b)) === String(expected.sort((a, b) => a - b));
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { node, sysFs } of this.#nodes.values()) {
      await node[Symbol.asyncDispose]();
      sysFs?.[Symbol.dispose]();
    }
    this.#nodes.clear();
    for (const daemon of this.#daemons) daemon.close();
    await this.etcd.close();
    await this.#outside.remove();
    await this.#core.remove();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #families(): readonly Networks[] {
    const { networks: one } = this;
    return [one, ...(one.second ? [one.second] : [])];
  }

  /** Without an overlay the routes to other nodes are in the table of the NICs. */
  get #tableOfNeighbors(): number {
    return this.#options.contiv?.['nodeToNodeTransport'] === 'nooverlay' ? 0 : 1;
  }

  async #build(): Promise<void> {
    for (const bridge of ['mgmt', 'under']) {
      await this.#core.run('ip', 'link', 'add', bridge, 'type', 'bridge');
      await this.#core.run('ip', 'link', 'set', bridge, 'up');
    }
    await this.#core.run('ip', 'addr', 'add', `${MANAGEMENT}.1/24`, 'dev', 'mgmt');
    await this.#connect(this.#outside, 'eth0', 'under', 'outside');
    // No device behind AF_PACKET completes checksums.
    await this.#outside.run('ethtool', '-K', 'eth0', 'tx', 'off');
    for (const one of this.#families) await addAddress(this.#outside, 'eth0', one.outside);
    await this.etcd.start();
  }

  /** Connects a namespace to one of the bridges. */
  async #connect(place: Netns, name: string, bridge: string, port: string): Promise<void> {
    const peer = ['type', 'veth', 'peer', 'name', port, 'netns', this.#core.path];
    await place.run('ip', 'link', 'add', name, ...peer);
    await place.run('ip', 'link', 'set', name, 'up');
    await this.#core.run('ip', 'link', 'set', port, 'master', bridge, 'up');
  }

  get #mainInterface(): string {
    return (this.#options.uplink ?? 'AF_PACKET') === 'AF_PACKET' ? `host-${UPLINK}` : UPLINK_TAP;
  }

  async #createUplink({ netns, vpp }: RealNode, port: string): Promise<void> {
    if (this.#mainInterface !== UPLINK_TAP) {
      await this.#connect(netns, UPLINK, 'under', port);
      // the host still has the NIC here, and must not answer for the address that it shares with VPP
      if (this.#options.stn) await netns.run('ip', 'link', 'set', UPLINK, 'arp', 'off');
      return;
    }
    const gso = this.#options.uplink === 'TAP with GSO' ? ' gso' : '';
    const host = `host-ns ${this.#core.path} host-if-name ${port}`;
    await vpp.cli(`create tap id ${UPLINK_TAP.slice(3)} ${host}${gso}`);
    await this.#core.run('ip', 'link', 'set', port, 'master', 'under', 'up');
  }

  async #launch(): Promise<ClusterNode> {
    const number = ++this.#joined;
    const name = `node${number}`;
    const host = this.networks.host(number);
    const { gateway } = this.#options;
    const stnSocketFile = join(this.#folder, `${name}.stn`);
    if (this.#options.stn)
      this.#daemons.push(
        await stolenUplink(stnSocketFile, UPLINK, `192.168.16.${number}/24`, gateway),
      );
    const sysFs = this.#options.sockets ? new SysFs() : undefined;
    const service = { ...this.#options.service, ...(sysFs && { socketServices: sysFs.path }) };
    const node = await RealNode.create({
      label: name,
      etcd: this.etcd,
      ...(this.#options.workers !== undefined && { workers: this.#options.workers }),
      service,
      ...(this.#options.links && { links: this.#options.links }),
      contiv: {
        ...this.#options.contiv,
        stnSocketFile,
        ipamConfig: this.#options.ipam ?? this.networks.ipamConfig,
        nodeConfig: [
          {
            nodeName: name,
            ...(this.#options.stn && { stealInterface: UPLINK }),
            mainVPPInterface: { interfaceName: this.#mainInterface },
            ...(gateway !== undefined && { gateway }),
          },
        ],
      },
    });
    try {
      await this.#connect(node.netns, 'mgmt', 'mgmt', `m-${name}`);
      await addAddress(node.netns, 'mgmt', networks[4].host(number));
      for (const one of this.#families)
        if (!isIpv4(one)) await addAddress(node.netns, 'mgmt', one.host(number));
      await this.#createUplink(node, `u-${name}`);
      const { register } = this.#options;
      const addresses = this.#families.map((one) => one.host(number).address);
      await (register ? register(name, host.address) : this.#writeNodeRecord(name, addresses));
      await node.agent.start();
      const identity = await nodeIdentity(node);
      const joined = { name, node, ...identity, host: endpoint(node.netns, host.address), sysFs };
      this.#nodes.set(name, joined);
      const { id, nodeIp, nodeIps } = identity;
      for (const one of this.#families) {
        const own = nodeIps.find((address) => isIpv4(one) === !address.includes(':'));
        await this.routeOutside(one.pods(id), own ?? nodeIp);
      }
      return joined;
    } catch (error) {
      const tail = node.agent.tail();
      await node[Symbol.asyncDispose]();
      sysFs?.[Symbol.dispose]();
      throw new Error(`${name} did not join: ${tail}`, { cause: error });
    }
  }

  /** As the reflector writes it. */
  async #writeNodeRecord(name: string, addresses: readonly string[]): Promise<void> {
    const value = nodeModel.canonical({
      name,
      zone: this.#options.zones?.[name] ?? '',
      addresses: [
        { type: 'NodeHostName', address: name },
        ...addresses.map((address) => ({ type: 'NodeInternalIP' as const, address })),
      ],
    });
    const key = REFLECTOR_PREFIX + resources.node.key(name, '');
    await this.etcd.store.put(key, valueText(resources.node, value));
  }
}

function isIpv4({ outside }: Networks): boolean {
  return !outside.address.includes(':');
}

/** Without duplicate address detection, which takes a second. */
async function addAddress(
  place: Netns,
  device: string,
  { address, length }: { readonly address: string; readonly length: number },
): Promise<void> {
  const nodad = address.includes(':') ? ['nodad'] : [];
  await place.run('ip', 'addr', 'add', `${address}/${length}`, 'dev', device, ...nodad);
}

function endpoint(place: NetworkNamespace, address: string): Endpoint {
  return { path: place.path, address, run: (...command) => place.run(...command) };
}

interface Identity {
  readonly nodeId: number;
  readonly nodeIP: string;
  readonly furtherNetworks?: readonly { readonly nodeIP: string }[];
}

/** ID and addresses of a node, as soon as it has an address. */
export async function nodeIdentity(
  node: RealNode,
): Promise<{ id: number; nodeIp: string; nodeIps: readonly string[] }> {
  let identity: Identity | undefined;
  await until('the node has an address', async () => {
    node.agent.assertRunning();
    const { status, body } = await node.agent.get('/contiv/v1/ipam');
    if (status === 200) identity = body as Identity;
    return status === 200;
  });
  const { nodeId, nodeIP, furtherNetworks = [] } = identity!;
  const others = furtherNetworks.map((one) => one.nodeIP);
  return { id: nodeId, nodeIp: nodeIP, nodeIps: [nodeIP, ...others] };
}
