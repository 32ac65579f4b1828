/** The cluster of the service suite with two agents on simulated VPP and Linux. */
import assert from 'node:assert/strict';
import { seededRandom } from '#infra/clock/manual.ts';
import { endpointsModel } from '#kubernetes/models/endpoints.ts';
import { namespaceModel } from '#kubernetes/models/namespace.ts';
import { nodeModel } from '#kubernetes/models/node.ts';
import { type Pod as PodRecord, podModel } from '#kubernetes/models/pod.ts';
import { serviceModel } from '#kubernetes/models/service.ts';
import { type AnyResource, REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import type { DeepInput, Model } from '#models/model.ts';
import type { NodeSnapshot } from '#packet-trace/node-document.ts';
import type { Packet } from '#packet-trace/packet.ts';
import type { Device } from '#packet-trace/snapshot.ts';
import {
  addPod,
  cniRequest,
  replyAddress,
  type TestPod,
  unreflectPod,
  until,
} from '#test/cmd/agent/harness.ts';
import { NIC, section } from '#test/cmd/agent/scenario.ts';
import { type Networks, networks } from '#test/integration/support/networks.ts';
import { snapshotOfDocuments } from '#test/packet-trace/document-snapshot.ts';
import { outsideDevice } from '#test/packet-trace/outside-device.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { serviceAddress } from '../service-address.ts';
import type {
  Answer,
  KubeRecord,
  NodeName,
  OpenConnections,
  Place,
  ServiceCluster,
  ServiceClusterOptions,
  ServiceRecords,
  Target,
} from '../service-cluster.ts';
import { SimulatedNode } from './node.ts';
import { memoryOf, type Network, type Opened, type Station, Traffic } from './traffic.ts';

const NAMESPACE = 'default';
const nodeNames: readonly NodeName[] = ['node1', 'node2'];

export interface SimulatedServiceClusterOptions extends ServiceClusterOptions {
  /** Whether the kernels of the nodes translate services at the sockets of pods and hosts. */
  readonly sockets?: boolean;
  /** Of pods, services and the networks between the nodes; default 4. */
  readonly family?: 4 | 6;
}

interface Pod {
  readonly pod: TestPod;
  readonly node: SimulatedNode;
}

export class SimulatedServiceCluster implements ServiceCluster {
  readonly hasSockets: boolean;
  readonly #family: 4 | 6;
  readonly #networks: Networks;
  readonly #cluster: MemoryStore;
  readonly #nodes: readonly SimulatedNode[];
  readonly #traffic = new Traffic(seededRandom(1));
  readonly #open = new Set<Opened>();
  readonly #pods = new Map<string, Pod>();
  /** By name. */
  readonly #stations = new Map<string, Station & { readonly ports: Set<number> }>();
  /** Routes of the machine outside. */
  readonly #routes = new Map<string, NodeName>();
  /** The last report of the agents; undefined: changed since. */
  /** A promise: what was read before a change is not kept when it arrives after the change. */
  #network: Promise<Network> | undefined;
  #markers = 0;

  static async start(
    options: SimulatedServiceClusterOptions = {},
  ): Promise<SimulatedServiceCluster> {
    const cluster = new SimulatedServiceCluster(options);
    for (const node of cluster.#nodes) await cluster.#startNode(node, options);
    // the nodes know each other: an entry for a tunnel, or a route through the NIC
    const other = /^config\/vpp\/(l2\/v2\/fib\/|v2\/route\/.*\/gw\/192\.168\.16\.[12]$)/;
    await until(async () =>
      (await cluster.#documents()).every(({ values }) =>
        Object.keys(values).some((key) => other.test(key)),
      ),
    );
    return cluster;
  }

  private constructor({
    contiv,
    service,
    sockets = false,
    family = 4,
  }: SimulatedServiceClusterOptions) {
    this.hasSockets = sockets;
    this.#family = family;
    this.#networks = networks[family];
    const { outside, ipamConfig } = this.#networks;
    this.#cluster = new MemoryStore();
    this.#nodes = nodeNames.map(
      (name) =>
        new SimulatedNode(name, this.#cluster, sockets, {
          contiv: {
            useTAPInterfaces: true,
            routeServiceCIDRToVPP: true,
            nodeConfig: [
              {
                ...section({}),
                nodeName: name,
                gateway: outside.address,
                natExternalTraffic: true,
              },
            ],
            ...contiv,
          },
          ipam: ipamConfig,
          service: { ...(sockets && { socketServices: '/sys/fs' }), ...service },
        }),
    );
    this.#addStation('outside', 'outside', outside.address);
  }

  async #startNode(node: SimulatedNode, { zones }: ServiceClusterOptions): Promise<void> {
    const { name } = node;
    const { address, length } = this.#networks.host(idOf(name));
    const { linux } = node.node;
    linux.addNic('eth0');
    await linux.addAddress(undefined, 'eth0', `${address}/${length}`);
    linux.addNic(NIC);
    const value = nodeModel.canonical({
      name,
      addresses: [{ type: 'NodeInternalIP', address }],
      ...(zones && { zone: zones[name] }),
    });
    await this.#cluster.put(
      REFLECTOR_PREFIX + resources.node.key(name, ''),
      valueText(resources.node, value),
    );
    await node.start();
    this.#addStation(name, `${name}/host`, address);
  }

  async startPod(
    name: string,
    nodeName: NodeName,
    ports: readonly number[],
    record: DeepInput<PodRecord> = {},
  ): Promise<void> {
    const node = this.#node(nodeName);
    const { namespace = NAMESPACE } = record;
    const pod: TestPod = { name, namespace, containerId: `c-${name}`, netns: `/run/netns/${name}` };
    const reply = await addPod(node.agent!, pod);
    assert.equal(reply.error, '');
    const address = replyAddress(reply);
    this.#network = undefined;
    this.#pods.set(name, { pod, node });
    const value = podModel.canonical({ ...record, name, namespace, ip_address: address });
    await this.#write(resources.pod, name, value, namespace);
    this.#addStation(name, `${nodeName}/${pod.netns}`, address, ports);
    await this.#settle();
  }

  async endPod(name: string): Promise<void> {
    const { pod, node } = this.#pods.get(name)!;
    this.#pods.delete(name);
    this.#stations.delete(name);
    await node.agent!.client.delete(cniRequest(pod));
    await unreflectPod(node.node, pod);
    await this.#settle();
  }

  async serve(at: Place, port: number): Promise<void> {
    this.#stations.get(nameOf(at))!.ports.add(port);
  }

  addressOf(place: Place): string {
    return this.#stations.get(nameOf(place))!.address;
  }

  nodeOf(place: Place): NodeName | undefined {
    if (place === 'outside') return undefined;
    return 'host' in place ? place.host : this.#pods.get(place.pod)!.node.name;
  }

  vppAddressOf(node: NodeName): string {
    return this.#family === 4 ? `192.168.16.${idOf(node)}` : `fd16::${idOf(node)}`;
  }

  natLoopbackOf(node: NodeName): string {
    const id = idOf(node);
    return this.#family === 4 ? `10.1.${id}.254` : `fd01::${id}:ffff:ffff:ffff:fffe`;
  }

  serviceAddress(ipv4: string): string {
    return serviceAddress(ipv4, this.#family);
  }

  async apply(...records: readonly ServiceRecords[]): Promise<void> {
    for (const { name, service, endpoints } of records) {
      const names = { name, namespace: NAMESPACE };
      const value = service && serviceModel.canonical({ ...service, ...names });
      await this.#write(resources.service, name, value);
      const backends = endpoints && endpointsModel.canonical({ ...endpoints, ...names });
      await this.#write(resources.endpoints, name, backends);
    }
    await this.#settle();
  }

  async write(...records: readonly KubeRecord[]): Promise<void> {
    for (const { resource, name, namespace, value } of records)
      await this.#write(resource, name, value, namespace);
    await this.#settle();
  }

  async routeFromOutside(address: string, via: NodeName): Promise<void> {
    this.#routes.set(address, via);
    this.#network = undefined;
  }

  async connect(from: Place, to: Target, count = 1): Promise<readonly Answer[]> {
    const network = await this.#current();
    return Array.from({ length: count }, () => {
      const { connection, answer } = this.#traffic.open(network, this.#station(from), to);
      if (answer.result === 'answered') this.#traffic.close(network, connection);
      return answer;
    });
  }

  async open(from: Place, to: Target, count: number): Promise<OpenConnections> {
    const network = await this.#current();
    const opened = Array.from({ length: count }, () =>
      this.#traffic.open(network, this.#station(from), to),
    );
    for (const one of opened) this.#open.add(one);
    this.#tellKernels();
    return {
      answers: opened.map(({ answer }) => answer),
      broken: async () => {
        const now = await this.#current();
        return opened
          .filter(({ connection, answer }) => {
            const later = this.#traffic.continue(now, connection);
            return JSON.stringify(later) !== JSON.stringify(answer);
          })
          .map(({ answer }) => answer);
      },
      close: async () => {
        const now = await this.#current();
        for (const one of opened) {
          this.#traffic.close(now, one.connection);
          this.#open.delete(one);
        }
        this.#tellKernels();
      },
    };
  }

  async pass(seconds: number): Promise<void> {
    for (const { clock } of this.#nodes) clock.pass(seconds);
  }

  async restartAgent(
    name: NodeName,
    signal: 'SIGTERM' | 'SIGKILL',
    meanwhile?: () => Promise<void>,
  ): Promise<void> {
    const node = this.#node(name);
    await node.stop(signal);
    await meanwhile?.();
    await node.start();
    await this.#settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.#nodes) await node.stop('SIGTERM');
  }

  /** Kernels know the connections of TCP of their processes. */
  #tellKernels(): void {
    for (const { node, name } of this.#nodes) {
      const all = [...this.#open].flatMap(socketsOf);
      const own = all.filter(({ device }) => device.startsWith(`${name}/`));
      const byNamespace = Map.groupBy(own, ({ device }) => device.slice(name.length + 1));
      node.linux.open.clear();
      for (const [namespace, sockets] of byNamespace)
        node.linux.open.set(
          namespace,
          sockets.map(({ connection }) => connection),
        );
    }
  }

  #addStation(name: string, device: string, address: string, ports: readonly number[] = []): void {
    this.#stations.set(name, { name, device, address, ports: new Set(ports) });
  }

  #node(name: NodeName): SimulatedNode {
    return this.#nodes.find((node) => node.name === name)!;
  }

  #station(place: Place): Station {
    return this.#stations.get(nameOf(place))!;
  }

  async #write(
    resource: AnyResource,
    name: string,
    value: object | undefined,
    namespace = NAMESPACE,
  ): Promise<void> {
    const key = REFLECTOR_PREFIX + resource.key(name, namespace);
    if (value === undefined) await this.#cluster.delete(key);
    else await this.#cluster.put(key, valueText(resource, value));
  }

  /** An agent has applied all records when it has handled one that was written after them. */
  async #settle(): Promise<void> {
    this.#network = undefined;
    const marker = `marker-${++this.#markers}`;
    const model: Model<{ readonly name: string }> = namespaceModel;
    await this.#write(resources.namespace, marker, model.canonical({ name: marker }));
    for (const { agent } of this.#nodes)
      if (agent)
        await until(() =>
          agent.agent.controller.history.records.some(({ description }) =>
            description.includes(marker),
          ),
        );
  }

  #documents(): Promise<NodeSnapshot[]> {
    return Promise.all(
      this.#nodes.map(async ({ agent }) => {
        const { status, body } = await agent!.get('/trace/node');
        assert.equal(status, 200, JSON.stringify(body));
        return body as NodeSnapshot;
      }),
    );
  }

  #current(): Promise<Network> {
    this.#network ??= this.#read();
    return this.#network;
  }

  async #read(): Promise<Network> {
    return {
      snapshot: snapshotOfDocuments(await this.#documents(), [this.#outside()]),
      stations: [...this.#stations.values()],
      memory: memoryOf(
        new Map(this.#nodes.map(({ name, node }) => [`${name}/vpp`, node.vpp.memory])),
      ),
    };
  }

  #outside(): Device {
    const { outside, pods } = this.#networks;
    return outsideDevice(`${outside.address}/${outside.length}`, [
      ...nodeNames.map((name) => [pods(idOf(name)), this.vppAddressOf(name)] as const),
      ...[...this.#routes].map(([to, name]) => [to, this.vppAddressOf(name)] as const),
    ]);
  }
}

/** The sockets of both ends. */
function socketsOf({ connection: { from, first }, arrived }: Opened) {
  if (first.protocol !== 'TCP' || arrived === undefined) return [];
  const ends = ({ source, destination, sourcePort = 0, destinationPort = 0 }: Packet) => ({
    client: { address: source, port: sourcePort },
    server: { address: destination, port: destinationPort },
  });
  const [sent, received] = [ends(first), ends(arrived.packet)];
  const client = { local: sent.client, remote: sent.server, openedBy: 'local' } as const;
  const server = { local: received.server, remote: received.client, openedBy: 'remote' } as const;
  return [
    { device: from.device, connection: client },
    { device: arrived.device, connection: server },
  ];
}

function nameOf(place: Place): string {
  if (place === 'outside') return place;
  return 'host' in place ? place.host : place.pod;
}

/** Agents take the IDs in the order in which they start. */
function idOf(node: NodeName): number {
  return Number(node.at(-1));
}
