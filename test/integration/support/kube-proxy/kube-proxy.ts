/** kube-proxy on each node of the network, with the objects of an API server. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeEndpointSlice } from '#kubernetes/reflector/objects/endpoints.ts';
import type { KubeService } from '#kubernetes/reflector/objects/service.ts';
import type { Answer } from '#test/services/service-cluster.ts';
import { findKubeProgram } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { Background } from '../background.ts';
import { EtcdServer } from '../etcd-server.ts';
import { KubeApiServer } from '../kube-api-server.ts';
import {
  type AnswerText,
  answerText,
  type Cell,
  clients,
  completeAnswers,
  endpointsOf,
} from './matrix.ts';
import { type NodeName, NodeNetwork, nodeNames, POD_LINKS } from './network.ts';
import { relayTo } from './relay.ts';
import { machines, serviceObjects, sliceObjects, zones } from './services.ts';

const NAMESPACE = 'shop';
const API_PORT = 6443;
/** Connections of one client to one address at a time. */
const AT_ONCE = 4;

export class KubeProxyCluster implements AsyncDisposable {
  readonly #owned: AsyncDisposableStack;
  readonly #network: NodeNetwork;
  readonly services: readonly KubeService[];
  readonly slices: readonly KubeEndpointSlice[];

  /** Resolves when both nodes have all services. */
  static async start(): Promise<KubeProxyCluster> {
    await using owned = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'kube-proxy-'));
    owned.defer(() => rmSync(folder, { recursive: true, force: true }));
    const etcd = await EtcdServer.start();
    owned.defer(() => etcd.close());
    const network = owned.use(await NodeNetwork.start());
    const apiServer = owned.use(await KubeApiServer.start({ etcd: `127.0.0.1:${etcd.port}` }));
    await createObjects(apiServer);
    const path = join(folder, 'api-server.sock');
    const relay = relayTo({ port: apiServer.port, host: '127.0.0.1' }).listen(path);
    await once(relay, 'listening');
    owned.defer(() => void relay.close());
    const server = `https://127.0.0.1:${API_PORT}`;
    const kubeconfig = apiServer.kubeconfig({ name: 'kube-proxy', server });
    const programs = nodeNames.map((node) => {
      const { enter } = network.namespace(node);
      const start = (name: string, command: readonly string[]): Background => {
        const program = new Background([...enter, ...command], {
          log: join(folder, `${node}-${name}`),
        });
        owned.defer(() => program.end('SIGKILL'));
        return program;
      };
      const script = join(import.meta.dirname, 'relay.ts');
      start('relay', [process.execPath, script, String(API_PORT), path]);
      return { node, kubeProxy: start('kube-proxy', kubeProxyCommand(node, kubeconfig)) };
    });
    for (const { node, kubeProxy } of programs)
      await until(`kube-proxy of ${node} has all services`, async () => {
        kubeProxy.assertRunning();
        const rules = await network.namespace(node).run('nft', 'list', 'ruleset');
        // its first rules are those of all services
        return rules.includes('itself/tcp/web');
      });
    using client = apiServer.client();
    const services = await client.list<KubeService>(`/api/v1/namespaces/${NAMESPACE}/services`);
    const slices = await client.list<KubeEndpointSlice>(
      `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`,
    );
    return new KubeProxyCluster(owned.move(), network, { services, slices });
  }

  private constructor(
    owned: AsyncDisposableStack,
    network: NodeNetwork,
    { services, slices }: Pick<KubeProxyCluster, 'services' | 'slices'>,
  ) {
    this.#owned = owned;
    this.#network = network;
    this.services = services;
    this.slices = slices;
  }

  /** Of all cells, by real connections. */
  async answers(cells: readonly Cell[]): Promise<ReadonlyMap<Cell, AnswerText>> {
    const answers = new Map<Cell, Answer[]>();
    // those without an answer wait for 5 s
    await inParallel(100, cells, async (cell) => {
      answers.set(cell, await this.#connect(cell, 1));
    });
    await inParallel(4, cells, async (cell) => {
      const endpoints = endpointsOf(this.slices, cell.question.service);
      const connect = () => this.#connect(cell, AT_ONCE);
      await completeAnswers(answers.get(cell)!, endpoints, connect);
    });
    return new Map([...answers].map(([cell, own]) => [cell, answerText(own)]));
  }

  async #connect({ client, question }: Cell, count: number): Promise<Answer[]> {
    const station = this.#network.station(clients[client]);
    return [...(await station.connect(question.target, count))];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned[Symbol.asyncDispose]();
  }
}

async function inParallel<T>(
  workers: number,
  all: readonly T[],
  one: (item: T) => Promise<void>,
): Promise<void> {
  const rest = all.values();
  const work = async (): Promise<void> => {
    for (const item of rest) await one(item);
  };
  await Promise.all(Array.from({ length: workers }, work));
}

function kubeProxyCommand(node: NodeName, kubeconfig: string): string[] {
  return [
    findKubeProgram('kube-proxy')!,
    '--proxy-mode=nftables',
    `--hostname-override=${node}`,
    `--kubeconfig=${kubeconfig}`,
    // pods of other nodes are no clients of this one
    '--detect-local-mode=InterfaceNamePrefix',
    `--pod-interface-name-prefix=${POD_LINKS}`,
    // as the agent: at all addresses of the node
    '--nodeport-addresses=172.16.0.0/24,192.168.16.0/24',
    // limits of the machine, which are not those of a node
    '--conntrack-max-per-core=0',
    '--conntrack-min=0',
    '--conntrack-tcp-timeout-established=0s',
    '--conntrack-tcp-timeout-close-wait=0s',
    '--oom-score-adj=0',
  ];
}

async function createObjects(apiServer: KubeApiServer): Promise<void> {
  using client = apiServer.client();
  await client.create('/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: NAMESPACE },
  });
  for (const name of nodeNames) {
    const labels = { 'topology.kubernetes.io/zone': zones[name] };
    const metadata = { name, labels };
    await client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata });
    const addresses = [{ type: 'InternalIP', address: machines[name].address }];
    await client.patch(`/api/v1/nodes/${name}/status`, { status: { addresses } });
  }
  for (const slice of sliceObjects())
    await client.create(`/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`, slice);
  const path = `/api/v1/namespaces/${NAMESPACE}/services`;
  for (const { object, status } of serviceObjects()) {
    await client.create(path, object);
    await client.patch(`${path}/${object.metadata.name}/status`, { status });
  }
}
