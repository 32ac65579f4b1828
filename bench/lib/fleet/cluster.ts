import type { EtcdStore } from '#datastore/etcd/store.ts';
import { EtcdServer } from '#test/integration/support/etcd-server.ts';
import { ClusterPart } from '../large/cluster-part.ts';
import { namespaceRecord } from '../large/large-records.ts';
import { fill } from '../large/writer.ts';

/** Those with pods: about 1,000 records, without those of the other nodes. */
const NODES_WITH_PODS = 20;

/** An etcd with the records of a cluster, without an agent. */
export class FleetCluster implements AsyncDisposable {
  readonly etcd: EtcdServer;
  readonly part: ClusterPart;
  readonly #store: EtcdStore;
  #turn = 0;

  static async start(nodes: number): Promise<FleetCluster> {
    const etcd = await EtcdServer.start();
    const cluster = new FleetCluster(etcd, new ClusterPart(nodes, NODES_WITH_PODS));
    await fill(etcd, () => undefined, cluster.part);
    return cluster;
  }

  private constructor(etcd: EtcdServer, part: ClusterPart) {
    this.etcd = etcd;
    this.part = part;
    this.#store = etcd.store(etcd.port, 60_000);
  }

  /** Writes a last change. @returns the turn by which an agent shows that it has it */
  async mark(): Promise<string> {
    const turn = `${++this.#turn}`;
    const [key, text = ''] = namespaceRecord(0, turn);
    await this.#store.put(key, text);
    return turn;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store.close();
    await this.etcd.close();
  }
}
