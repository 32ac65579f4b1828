/** The cluster of the service suite with two real nodes: its connections are packets. */
import assert from 'node:assert/strict';
import { endpointsModel } from '#kubernetes/models/endpoints.ts';
import { namespaceModel } from '#kubernetes/models/namespace.ts';
import { type Pod, podModel } from '#kubernetes/models/pod.ts';
import { serviceModel } from '#kubernetes/models/service.ts';
import { type AnyResource, REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import type { DeepInput, Model } from '#models/model.ts';
import type { NodeSnapshot } from '#packet-trace/node-document.ts';
import { serviceAddress } from '#test/services/service-address.ts';
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
} from '#test/services/service-cluster.ts';
import { until } from '#test/support/wait.ts';
import type { Links } from './agent.ts';
import { type ClusterNode, RealCluster } from './cluster.ts';
import { networks } from './networks.ts';
import type { RealNode } from './node.ts';
import type { Sandbox } from './sandbox.ts';
import { SocketFiles } from './socket-files.ts';
import { Station } from './station.ts';
import type { FlowReport, ProbeReport } from './traffic/station/commands.ts';
import type { VppProcess } from './vpp-process.ts';

const NAMESPACE = 'default';

interface RealPod {
  readonly sandbox: Sandbox;
  readonly node: ClusterNode;
}

export interface RealServiceClusterOptions extends ServiceClusterOptions {
  /** Threads of each VPP beside the main one; default 0. */
  readonly workers?: number;
  /** Whether the kernel translates services at the sockets of pods and hosts. */
  readonly sockets?: boolean;
  /** Of pods, services and the networks between the nodes; default 4. */
  readonly family?: 4 | 6;
  /** Whether pods and nodes have addresses of the other family, too; that above is the primary one. */
  readonly isDual?: boolean;
  /** Whether each VPP has taken its uplink from the host (STN). */
  readonly stn?: boolean;
  readonly links?: Links;
}

/** A connection over which a message goes out and returns all the time, from its end on never again. */
export interface RunningFlow {
  report(): Promise<FlowReport>;
}

const anyAddress = { 4: '0.0.0.0', 6: '::' } as const;

export class RealServiceCluster implements ServiceCluster {
  readonly hasSockets: boolean;
  readonly #hasStn: boolean;
  /** The primary one first. */
  readonly #families: readonly [4 | 6, ...(4 | 6)[]];
  readonly #cluster: RealCluster;
  readonly #pods = new Map<string, RealPod>();
  /** On the network of the hosts, by which it reaches their own NICs. */
  readonly #management: Station;
  /** By the name with which they answer. */
  readonly #stations = new Map<string, Station>();
  #markers = 0;

  static async start(options: RealServiceClusterOptions = {}): Promise<RealServiceCluster> {
    const {
      contiv,
      service,
      zones,
      workers = 0,
      family = 4,
      isDual = false,
      sockets = false,
      stn = false,
      links,
    } = options;
    const cluster = await RealCluster.create({
      nodes: 2,
      workers,
      family,
      isDual,
      sockets,
      stn,
      ...(links && { links }),
      contiv: { routeServiceCIDRToVPP: true, enableGSO: true, ...contiv },
      // the machine outside: with a default gateway, the agents know the interface that leads out
      gateway: networks[family].outside.address,
      ...(service && { service }),
      ...(zones && { zones }),
    });
    const other = family === 4 ? 6 : 4;
    const families = isDual ? ([family, other] as const) : ([family] as const);
    return new RealServiceCluster(cluster, families, sockets, stn);
  }

  private constructor(
    cluster: RealCluster,
    families: readonly [4 | 6, ...(4 | 6)[]],
    hasSockets: boolean,
    hasStn: boolean,
  ) {
    this.#families = families;
    this.hasSockets = hasSockets;
    this.#hasStn = hasStn;
    this.#cluster = cluster;
    this.#management = new Station('management', cluster.management);
    for (const { name, host, sysFs } of cluster.nodes)
      this.#stations.set(name, new Station(name, host, sysFs));
    this.#stations.set('outside', new Station('outside', cluster.outside));
  }

  async startPod(
    name: string,
    nodeName: NodeName,
    ports: readonly number[],
    record: DeepInput<Pod> = {},
  ): Promise<void> {
    const node = this.#node(nodeName);
    const { namespace = NAMESPACE } = record;
    const sandbox = await node.node.pod(name, namespace);
    this.#pods.set(name, { sandbox, node });
    const addresses = {
      ip_address: sandbox.address,
      ip_addresses: sandbox.addresses.length > 1 ? [...sandbox.addresses] : [],
    };
    const value = podModel.canonical({ ...record, name, namespace, ...addresses });
    await this.#write(resources.pod, name, value, namespace);
    const station = new Station(name, sandbox, node.sysFs);
    this.#stations.set(name, station);
    for (const port of ports)
      for (const family of this.#families) await station.serve(port, anyAddress[family]);
  }

  async endPod(name: string): Promise<void> {
    const { sandbox, node } = this.#pods.get(name)!;
    this.#pods.delete(name);
    this.#stations.get(name)![Symbol.dispose]();
    this.#stations.delete(name);
    await node.node.agent.delete(sandbox);
    await this.#write(resources.pod, name, undefined, sandbox.namespace);
    await sandbox.remove();
  }

  async serve(at: Place, port: number): Promise<void> {
    for (const family of this.#families) {
      const own =
        typeof at === 'object' && 'host' in at
          ? [this.addressOf(at, family), this.#hostLinkAddress(at.host, family)]
          : undefined;
      await this.#station(at).serve(port, anyAddress[family], own);
    }
  }

  /** @param family default: the primary one */
  addressOf(place: Place, family: 4 | 6 = this.#families[0]): string {
    if (place === 'outside') return networks[family].outside.address;
    if ('host' in place) return networks[family].host(Number(place.host.slice(4))).address;
    return this.#pods.get(place.pod)!.sandbox.addressOf(family);
  }

  nodeOf(place: Place): NodeName | undefined {
    if (place === 'outside') return undefined;
    if ('host' in place) return place.host;
    return this.#pods.get(place.pod)!.node.name as NodeName;
  }

  /** @param family default: the primary one */
  vppAddressOf(node: NodeName, family: 4 | 6 = this.#families[0]): string {
    return this.#node(node).nodeIps.find((address) => address.includes(':') === (family === 6))!;
  }

  vppOf(node: NodeName): VppProcess {
    return this.#node(node).node.vpp;
  }

  realNode(name: NodeName): RealNode {
    return this.#node(name).node;
  }

  /** Only with services at sockets. */
  socketFilesOf(node: NodeName): SocketFiles {
    return new SocketFiles(this.#node(node).sysFs!.path);
  }

  sandboxOf(pod: string): Sandbox {
    return this.#pods.get(pod)!.sandbox;
  }

  natLoopbackOf(node: NodeName): string {
    const { id } = this.#node(node);
    return this.#families[0] === 4 ? `10.1.${id}.254` : `fd01::${id}:ffff:ffff:ffff:fffe`;
  }

  serviceAddress(ipv4: string): string {
    return serviceAddress(ipv4, this.#families[0]);
  }

  async apply(...records: readonly ServiceRecords[]): Promise<void> {
    await this.announce(...records);
    await this.#settle();
  }

  /** Writes the records of services without waiting for the agents. */
  async announce(...records: readonly ServiceRecords[]): Promise<void> {
    for (const { name, service, endpoints } of records) {
      const names = { name, namespace: NAMESPACE };
      const value = service && serviceModel.canonical({ ...service, ...names });
      await this.#write(resources.service, name, value);
      const backends = endpoints && endpointsModel.canonical({ ...endpoints, ...names });
      await this.#write(resources.endpoints, name, backends);
    }
  }

  async write(...records: readonly KubeRecord[]): Promise<void> {
    for (const { resource, name, namespace, value } of records)
      await this.#write(resource, name, value, namespace);
    await this.#settle();
  }

  async routeFromOutside(address: string, via: NodeName): Promise<void> {
    const family = address.includes(':') ? 6 : 4;
    await this.#cluster.routeOutside(address, this.vppAddressOf(via, family));
  }

  keepNeighbor(address: string, kept: boolean): Promise<void> {
    return this.#cluster.keepNeighbor(address, kept);
  }

  addOutsideAddress(address: string): Promise<void> {
    return this.#cluster.addOutsideAddress(address);
  }

  connect(from: Place, to: Target, count = 1): Promise<readonly Answer[]> {
    return this.#station(from).connect(to, count);
  }

  get managementAddress(): string {
    return this.#cluster.management.address;
  }

  /** From a machine that reaches the own NICs of the hosts. */
  connectFromManagement(to: Target, count = 1): Promise<readonly Answer[]> {
    return this.#management.connect(to, count);
  }

  transferFromManagement(to: Target, megabytes: number): Promise<Answer> {
    return this.#management.transfer(to, megabytes);
  }

  async open(from: Place, to: Target, count: number): Promise<OpenConnections> {
    const station = this.#station(from);
    const opened = await station.open(to, count);
    const ids = opened.map(({ id }) => id);
    return {
      answers: opened.map(({ answer }) => answer),
      async broken() {
        const broken = await station.check(ids);
        return opened.filter(({ id }) => broken.includes(id)).map(({ answer }) => answer);
      },
      close: () => station.close(ids),
    };
  }

  /** @throws AssertionError if the target does not answer */
  async openFlow(from: Place, to: Target): Promise<RunningFlow> {
    const station = this.#station(from);
    const { id, answer } = await station.openFlow(to);
    assert.equal(answer.result, 'answered');
    return { report: () => station.readFlow(id) };
  }

  /** Sends a datagram each millisecond. */
  probe(from: Place, { address, port }: Target, seconds: number): Promise<ProbeReport> {
    return this.#station(from).probe({ address, port, protocol: 'UDP' }, seconds);
  }

  /** Sends bytes over TCP to a server that returns them. */
  transfer(from: Place, to: Target, megabytes: number): Promise<Answer> {
    return this.#station(from).transfer(to, megabytes);
  }

  /** The reports of the agents for packet traces. */
  documents(): Promise<readonly NodeSnapshot[]> {
    return Promise.all(
      this.#cluster.nodes.map(async ({ node }) => {
        const { status, body } = await node.agent.get('/trace/node');
        assert.equal(status, 200);
        return body as NodeSnapshot;
      }),
    );
  }

  async pass(seconds: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
  }

  async restartAgent(
    name: NodeName,
    signal: 'SIGTERM' | 'SIGKILL',
    meanwhile?: () => Promise<void>,
  ): Promise<void> {
    const { agent } = this.#node(name).node;
    await agent.end(signal);
    await meanwhile?.();
    await agent.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const station of [this.#management, ...this.#stations.values()]) await station.end();
    await this.#cluster[Symbol.asyncDispose]();
  }

  /** Of the host on its link to VPP; with STN that of the node. */
  #hostLinkAddress(name: NodeName, family: 4 | 6): string {
    const { id, nodeIp } = this.#node(name);
    return this.#hasStn ? nodeIp : networks[family].hostLink(id);
  }

  #node(name: NodeName): ClusterNode {
    return this.#cluster.nodes.find((node) => node.name === name)!;
  }

  #station(place: Place): Station {
    if (place === 'outside') return this.#stations.get('outside')!;
    return this.#stations.get('host' in place ? place.host : place.pod)!;
  }

  async #write(
    resource: AnyResource,
    name: string,
    value: object | undefined,
    namespace = NAMESPACE,
  ): Promise<void> {
    const key = REFLECTOR_PREFIX + resource.key(name, namespace);
    const { store } = this.#cluster.etcd;
    if (value === undefined) await store.delete(key);
    else await store.put(key, valueText(resource, value));
  }

  /** An agent has applied all records when it has handled one that was written after them. */
  async #settle(): Promise<void> {
    const marker = `marker-${++this.#markers}`;
    const model: Model<{ readonly name: string }> = namespaceModel;
    await this.#write(resources.namespace, marker, model.canonical({ name: marker }));
    for (const { name, node } of this.#cluster.nodes) {
      if (!node.agent.isRunning) continue;
      await until(`${name} has applied the records`, async () => {
        const history = await node.agent.history();
        return history.some(({ Description }) => Description.includes(marker));
      });
    }
  }
}
