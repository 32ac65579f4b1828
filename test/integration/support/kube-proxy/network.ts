/**
 * Two nodes with pods, and a machine outside, as network namespaces that the kernel connects: the nodes route, and each
 * machine answers at its ports with its name.
 */
import { Netns } from '../netns.ts';
import { Station } from '../station.ts';
import { type MachineName, machines } from './services.ts';

export const nodeNames = ['node-a', 'node-b'] as const;
export type NodeName = (typeof nodeNames)[number];

/** Prefix of the interfaces to pods, on nodes. */
export const POD_LINKS = 'pod-';

const idOf = (node: NodeName): number => nodeNames.indexOf(node) + 1;

export class NodeNetwork implements AsyncDisposable {
  readonly #namespaces = new Map<string, Netns>();
  readonly #stations = new Map<string, Station>();

  static async start(): Promise<NodeNetwork> {
    const network = new NodeNetwork();
    try {
      await network.#build();
      return network;
    } catch (error) {
      await network[Symbol.asyncDispose]();
      throw error;
    }
  }

  namespace(name: string): Netns {
    return this.#namespaces.get(name)!;
  }

  station(name: MachineName | 'outside'): Station {
    return this.#stations.get(name)!;
  }

  async #build(): Promise<void> {
    const outside = await this.#add('outside');
    await outside.run('ip', 'link', 'add', 'br0', 'type', 'bridge');
    for (const address of ['192.168.16.200/24', '172.16.0.200/24'])
      await outside.run('ip', 'address', 'add', address, 'dev', 'br0');
    await outside.run('ip', 'link', 'set', 'br0', 'up');
    for (const node of nodeNames) await this.#addNode(node, outside);
    // the load balancer, and the routes of others to the cluster
    await outside.run('ip', 'route', 'add', 'default', 'via', '192.168.16.1');
    for (const [name, machine] of Object.entries(machines)) {
      const place = this.#namespaces.get(name) ?? (await this.#addPod(name, machine));
      const station = this.#serve(name, place);
      for (const port of machine.ports) await station.serve(port, '0.0.0.0', [machine.address]);
    }
    this.#serve('outside', outside);
  }

  async #add(name: string): Promise<Netns> {
    const namespace = await Netns.create(name);
    this.#namespaces.set(name, namespace);
    const keys = ['all', 'default'].map((one) => `net.ipv4.conf.${one}.rp_filter=0`);
    await namespace.run('sysctl', '-q', '-w', ...keys);
    return namespace;
  }

  async #addNode(name: NodeName, outside: Netns): Promise<void> {
    const node = await this.#add(name);
    const port = `to-${name}`;
    await outside.run(
      'ip',
      'link',
      'add',
      port,
      'type',
      'veth',
      'peer',
      'eth0',
      'netns',
      node.name,
    );
    await outside.run('ip', 'link', 'set', port, 'master', 'br0', 'up');
    // clients get every refusal, however many there are
    const keys = ['ip_forward=1', 'icmp_ratelimit=0', 'icmp_msgs_per_sec=100000'];
    await node.run('sysctl', '-q', '-w', ...keys.map((key) => `net.ipv4.${key}`));
    await node.run('ip', 'link', 'set', 'eth0', 'up');
    const [id, other] = [idOf(name), 3 - idOf(name)];
    for (const network of ['172.16.0', '192.168.16'])
      await node.run('ip', 'address', 'add', `${network}.${id}/24`, 'dev', 'eth0');
    await node.run('ip', 'route', 'add', `10.1.${other}.0/24`, 'via', `192.168.16.${other}`);
    await node.run('ip', 'route', 'add', 'default', 'via', '192.168.16.200');
  }

  async #addPod(name: string, { address, node }: (typeof machines)[MachineName]): Promise<Netns> {
    const [pod, host] = [await this.#add(name), this.namespace(node)];
    const gateway = `10.1.${idOf(node)}.1`;
    const link = `${POD_LINKS}${name}`;
    await host.run('ip', 'link', 'add', link, 'type', 'veth', 'peer', 'eth0', 'netns', pod.name);
    await host.run('ip', 'link', 'set', link, 'up');
    await host.run('ip', 'address', 'add', `${gateway}/32`, 'dev', link);
    await host.run('ip', 'route', 'add', `${address}/32`, 'dev', link);
    await pod.run('ip', 'link', 'set', 'eth0', 'up');
    await pod.run('ip', 'address', 'add', `${address}/32`, 'dev', 'eth0');
    await pod.run('ip', 'route', 'add', `${gateway}/32`, 'dev', 'eth0');
    await pod.run('ip', 'route', 'add', 'default', 'via', gateway);
    return pod;
  }

  #serve(name: string, place: Netns): Station {
    const station = new Station(name, place);
    this.#stations.set(name, station);
    return station;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const station of this.#stations.values()) station[Symbol.dispose]();
    for (const namespace of this.#namespaces.values()) await namespace.remove();
  }
}
