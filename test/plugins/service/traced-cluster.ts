/** Two nodes in packet traces through what their agents have configured. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { nodeModel } from '#kubernetes/models/node.ts';
import { podModel } from '#kubernetes/models/pod.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { type SocketNodeAddress, socketNodeAddressKey } from '#models/linux/socket-node-address.ts';
import { type SocketService, socketServiceKey } from '#models/linux/socket-service.ts';
import { traceBranches } from '#packet-trace/branches.ts';
import { clusterSnapshot } from '#packet-trace/cluster.ts';
import { type Packet, replyTo } from '#packet-trace/packet.ts';
import type { Snapshot } from '#packet-trace/snapshot.ts';
import { traceText } from '#packet-trace/trace-text.ts';
import { tracePacket } from '#packet-trace/tracer.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { device, iface, via } from '../../packet-trace/snapshot-builder.ts';
import { FakeHost } from '../fake-ports.ts';
import { fakeVppWithNics } from '../ipv4net/vpp-with.ts';
import { addressOf, type KubeValue, TestNode, vppNodeValue } from '../test-node.ts';
import { type AddressPlan, type Families, ipv4, serviceIn, slicesIn } from './address-plan.ts';
import { someEndpoints, someName, someService } from './random-objects.ts';
import { type Answer, answers, isInRanges, type World } from './reference.ts';
import { recordsOf, service } from './service-objects.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Value<A> = A extends fc.Arbitrary<infer T> ? T : never;

export const NODES = ['node-a', 'node-b'] as const;
export type NodeName = (typeof NODES)[number];

/** Of services and of endpoints. */
export const someFamilies: fc.Arbitrary<Families> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<Families[]>('own', 'both') },
  { weight: 1, arbitrary: fc.constant<Families>('other') },
);

const somePods = someEndpoints('10.1.1.2', '10.1.1.3', '10.1.2.2', '10.1.2.3');

/** A change of services, endpoints, pods or nodes. */
export const someStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      name: someName,
      service: fc.option(someService, { freq: 8 }),
      families: someFamilies,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      name: someName,
      endpoints: fc.option(somePods, { freq: 8 }),
      families: someFamilies,
    }),
  },
  // node-b leaves the cluster, or joins it again
  { weight: 1, arbitrary: fc.constant({ membership: true }) },
  { weight: 1, arbitrary: fc.record({ pod: fc.constantFrom('a1', 'a2', 'b1', 'b2') }) },
  // its annotation for the translation of services
  { weight: 1, arbitrary: fc.record({ exempt: fc.constantFrom('a1', 'a2', 'b1') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      node: fc.constantFrom(...NODES),
      zone: fc.constantFrom('', 'north', 'south'),
    }),
  },
);

/** Each service gets an object and endpoints. */
export const someFirstSteps = fc
  .tuple(
    fc.tuple(
      ...['a', 'b', 'c'].map((name) =>
        fc.record({ name: fc.constant(name), service: someService, families: someFamilies }),
      ),
    ),
    fc.tuple(
      ...['a', 'b', 'c'].map((name) =>
        fc.record({ name: fc.constant(name), endpoints: somePods, families: someFamilies }),
      ),
    ),
  )
  .map(([services, endpoints]): Step[] => [...services, ...endpoints]);

export type Step = Value<typeof someStep>;

export interface Client {
  readonly name: string;
  readonly device: string;
  readonly address: string;
  /** The node that serves it. */
  readonly node: NodeName;
}

/** Two nodes whose services, endpoints, pods and membership change. */
export class TracedCluster {
  readonly #nodes: Readonly<Record<NodeName, TestNode>>;
  readonly #hasSockets: boolean;
  readonly #plan: AddressPlan;
  readonly #zones = new Map<NodeName, string>();
  /** Attached pods by name, with their addresses. */
  readonly #pods = new Map<string, string>();
  readonly #exempt = new Set<string>();
  /** Without node-b node-a is alone. */
  #hasNodeB = true;
  readonly objects: Mutable<Pick<World, 'services' | 'slices'>> = { services: [], slices: [] };

  /**
   * @param hasSockets whether the kernels of the nodes translate services at sockets
   * @param hasUplink whether the nodes have a gateway, hence source NAT and several addresses for twice-NAT; with IPv4
   */
  static async start(
    hasSockets = false,
    hasUplink = false,
    plan: AddressPlan = ipv4,
  ): Promise<TracedCluster> {
    const cluster = new MemoryStore();
    const make = (name: NodeName, at: number) => {
      const host = new FakeHost();
      const addresses = plan.nodeAddresses(at).map(([, address]) => withLength(address));
      host.hostLinks = [{ name: 'eth0', mtu: 1500, addresses }];
      host.ipv6 = plan.families.includes(6);
      host.socketServices = hasSockets;
      const gateway = hasUplink ? ', defaultGateway: 192.168.16.100}' : '}';
      const yaml = `mtuSize: 1400\n${plan.yaml.replace(/\}$/, gateway)}`;
      const service = { socketServices: '/sys/fs' };
      return new TestNode({ name, cluster, host, vpp: fakeVppWithNics('Gig1'), yaml, service });
    };
    const nodes = { 'node-a': make('node-a', 1), 'node-b': make('node-b', 2) };
    const made = new TracedCluster(nodes, hasSockets, plan);
    for (const name of NODES) {
      const { error } = await made.#nodes[name].resync(NODES.flatMap((one) => made.#records(one)));
      if (error) throw error;
    }
    for (const pod of ['a1', 'a2', 'b1', 'b2']) await made.#togglePod(pod);
    return made;
  }

  private constructor(
    nodes: Readonly<Record<NodeName, TestNode>>,
    hasSockets: boolean,
    plan: AddressPlan,
  ) {
    this.#nodes = nodes;
    this.#hasSockets = hasSockets;
    this.#plan = plan;
  }

  async step(step: Step): Promise<void> {
    if ('pod' in step) return this.#togglePod(step.pod);
    if ('exempt' in step) return this.#toggleExemption(step.exempt);
    if ('membership' in step) return this.#toggleNode();
    if ('node' in step) {
      this.#zones.set(step.node, step.zone);
      const [node] = this.#records(step.node);
      if (node !== undefined) await this.#nodes[step.node].put(node);
      return;
    }
    const { name } = step;
    if ('service' in step) {
      const { services } = this.objects;
      this.objects.services = services.filter((one) => one.metadata.name !== name);
      if (step.service !== null) {
        const input = serviceIn(this.#plan, step.service, step.families);
        const clusterIP = input.clusterIPs[0] ?? '';
        this.objects.services = [...this.objects.services, service({ name, ...input, clusterIP })];
      }
      return this.#publishService('service', name);
    }
    const { slices } = this.objects;
    this.objects.slices = slices.filter((one) => !one.metadata.name.startsWith(name));
    if (step.endpoints !== null)
      this.objects.slices = [
        ...this.objects.slices,
        ...slicesIn(this.#plan, name, step.endpoints, step.families),
      ];
    return this.#publishService('endpoints', name);
  }

  /** Whether a client has a socket of a kernel that translates. */
  isSocket(client: Client): boolean {
    const [kind, pod = ''] = client.name.split(' ');
    return this.#hasSockets && kind === 'pod' && !this.#exempt.has(pod);
  }

  /** All that Kubernetes says about a node. */
  world(node: NodeName): World {
    const addressesOf = (one: NodeName) => this.#plan.nodeAddresses(NODES.indexOf(one) + 1).flat();
    return {
      ...this.objects,
      families: this.#plan.families,
      otherNodes: NODES.filter((one) => one !== node && this.#isMember(one)).map((name) => ({
        name,
        addresses: addressesOf(name),
      })),
      node: {
        name: node,
        zone: this.#zones.get(node) ?? '',
        addresses: addressesOf(node),
        podRanges: this.#plan.podRanges(NODES.indexOf(node) + 1),
      },
      isForbidden: this.#plan.isForbidden,
    };
  }

  /** Attached pods by name, with their addresses; those of a node that is no member are left out. */
  pods(): ReadonlyMap<string, string> {
    return new Map([...this.#pods].filter(([name]) => this.#isMember(nodeOf(name))));
  }

  clients(): Client[] {
    const pods = [...this.#pods].map(([name, address]) => {
      const node = nodeOf(name);
      return { name: `pod ${name}`, device: `${node}//run/netns/${name}`, address, node };
    });
    const outside = NODES.map((node) => ({
      name: `outside by ${node}`,
      device: `outside by ${node}`,
      address: outsideAddress(node),
      node,
    }));
    return [...pods, ...outside].filter(({ node }) => this.#isMember(node));
  }

  podAt(address: string): string | undefined {
    const [name] = [...this.pods()].find(([, one]) => one === address) ?? [];
    return name === undefined ? undefined : `${nodeOf(name)}//run/netns/${name}`;
  }

  /** Services at the sockets of a node. */
  sockets(node: NodeName): SocketService[] {
    return this.#valuesOf<SocketService>(node, socketServiceKey.prefix());
  }

  /** Addresses of nodes at the sockets of a node. */
  nodeAddresses(node: NodeName): SocketNodeAddress[] {
    return this.#valuesOf<SocketNodeAddress>(node, socketNodeAddressKey.prefix());
  }

  #valuesOf<T>(node: NodeName, prefix: string): T[] {
    return [...this.#nodes[node].config]
      .filter(([key]) => key.startsWith(prefix))
      .map(([, value]) => value as T);
  }

  snapshot(): Snapshot {
    return clusterSnapshot({
      nodes: NODES.map((name, at) => ({
        name,
        values: this.#nodes[name].config,
        hostAddresses: [`172.16.0.${at + 1}`],
      })),
      others: NODES.map((node, at) =>
        device(`outside by ${node}`, {
          forwards: false,
          interfaces: [iface('eth0', [`${outsideAddress(node)}/24`])],
          routes: [
            via('192.168.16.0/24', 'eth0'),
            via('0.0.0.0/0', 'eth0', `192.168.16.${at + 1}`),
          ],
        }),
      ),
    });
  }

  /** Tells all nodes a record; undefined: that it is deleted. */
  async publish(resource: KubeValue['resource'], key: string, value: object | undefined) {
    for (const node of Object.values(this.#nodes)) {
      const { error } = value
        ? await node.put({ resource, key, value })
        : await node.remove({ resource, key });
      if (error) throw error;
    }
  }

  #isMember(node: NodeName): boolean {
    return node === 'node-a' || this.#hasNodeB;
  }

  async #togglePod(name: string): Promise<void> {
    const node = this.#nodes[nodeOf(name)];
    if (this.#pods.delete(name)) {
      const { error } = await node.del(name, name);
      if (error) throw error;
    } else this.#pods.set(name, addressOf(await node.add(name, name)));
  }

  /** Of a pod of the namespace `default`. */
  annotationsOf(pod: string): Record<string, string> {
    return this.#exempt.has(pod) ? { 'contivpp.io/service-translation': 'packets' } : {};
  }

  async #toggleExemption(pod: string): Promise<void> {
    if (!this.#exempt.delete(pod)) this.#exempt.add(pod);
    const annotations = this.annotationsOf(pod);
    const value = podModel.canonical({ name: pod, namespace: 'default', annotations });
    await this.publish('pod', resources.pod.key(pod, 'default'), value);
  }

  async #toggleNode(): Promise<void> {
    this.#hasNodeB = !this.#hasNodeB;
    const node = this.#nodes['node-a'];
    for (const record of this.#records('node-b')) {
      const { error } = this.#hasNodeB ? await node.put(record) : await node.remove(record);
      if (error) throw error;
    }
  }

  async #publishService(resource: 'service' | 'endpoints', name: string): Promise<void> {
    const { services, slices } = this.objects;
    const key = resources[resource].key(name, 'shop');
    await this.publish(resource, key, recordsOf(services, slices).get(resource)?.get(key));
  }

  #records(name: NodeName): KubeValue[] {
    const at = NODES.indexOf(name) + 1;
    const addresses = this.#plan.nodeAddresses(at);
    const value = nodeModel.canonical({
      name,
      zone: this.#zones.get(name) ?? '',
      addresses: addresses.map(([, address]) => ({ type: 'NodeInternalIP', address })),
    });
    return [
      { resource: 'node', key: resources.node.key(name, ''), value },
      vppNodeValue(at, name, ...addresses.map(([vpp]) => withLength(vpp))),
    ];
  }
}

function withLength(address: string): string {
  return `${address}/${address.includes(':') ? 64 : 24}`;
}

export function nodeOf(pod: string): NodeName {
  return pod.startsWith('a') ? 'node-a' : 'node-b';
}

function outsideAddress(node: NodeName): string {
  return `192.168.16.20${NODES.indexOf(node)}`;
}

/**
 * Checks one client at one address, port and protocol: it reaches exactly the pods that Kubernetes says, with the source
 * address that it says, and the reply returns.
 * @param isPermitted whether policies let the client reach a backend, `address:port`
 */
export function checkAnswer(
  cluster: TracedCluster,
  snapshot: Snapshot,
  client: Client,
  key: string,
  isPermitted: (answer: Answer, backend: string) => boolean = () => true,
): void {
  const [protocol = '', destination = '', port = ''] = key.split(' ');
  const isSocket = cluster.isSocket(client);
  const world = cluster.world(client.node);
  const expected = answers(world, isSocket ? 'socket' : 'packet').get(key);
  const isServed = expected && isInRanges(expected, { address: client.address, isSocket }, world);
  const packet: Packet = {
    source: client.address,
    destination,
    protocol: protocol as 'TCP' | 'UDP',
    sourcePort: 40_000,
    destinationPort: Number(port),
  };
  const reached: string[] = [];
  const branches = traceBranches(snapshot, client.device, packet);
  for (const { share, trace, memory } of branches) {
    if (share === 0 || trace.verdict !== 'delivered') continue;
    const { destination: address, destinationPort, source } = trace.packet;
    if (cluster.podAt(address) === undefined) continue;
    assert.equal(trace.device, cluster.podAt(address));
    reached.push(`${address}:${destinationPort}`);
    const isItself = address === client.address;
    const seesClient = isSocket || (expected?.seesClient && !isItself);
    const text = `${client.name} to ${key}\n${traceText(trace)}`;
    assert.equal(source === client.address, seesClient, `the source is ${source}\n${text}`);
    const back = tracePacket(snapshot, trace.device, replyTo(trace.packet), { memory });
    assert.deepEqual(
      [back.verdict, back.device, back.packet.source, back.packet.sourcePort],
      ['delivered', client.device, destination, Number(port)],
      `${text}\nreply\n${traceText(back)}`,
    );
  }
  const wanted = (isServed ? expected.backends : []).filter((one) => {
    const [address = ''] = one.split(':');
    return cluster.podAt(address) !== undefined && isPermitted(expected as Answer, one);
  });
  const texts = () => branches.map(({ trace }) => traceText(trace)).join('\n');
  assert.deepEqual(reached.sort(), wanted, `${client.name} to ${key}\n${texts()}`);
}

/**
 * Cluster addresses are for pods. Packets ask for node ports at the node of the client: other nodes answer for
 * themselves, and at the address of the host without VPP. Sockets ask for them at all nodes.
 */
export function isAsked(cluster: TracedCluster, client: Client, key: string): boolean {
  const [, address = ''] = key.split(' ');
  if (address.startsWith('10.96.')) return client.name.startsWith('pod');
  if (cluster.isSocket(client) && answers(cluster.world(client.node), 'socket').has(key))
    return true;
  const { addresses } = cluster.world(client.node).node;
  return !/^(192\.168\.16|172\.16\.0)\./.test(address) || address === addresses[0];
}
