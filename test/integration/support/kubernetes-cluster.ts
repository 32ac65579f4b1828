/**
 * A cluster as users have it: kube-apiserver and its controllers, contiv-ksr, etcd, and nodes with VPP
 * and agent. Pods are attached by contiv-cni, called as kubelet and the container runtime call it.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Answer, Target } from '#test/services/service-cluster.ts';
import { buildContivCni } from '../../../scripts/lib/contiv-cni.ts';
import { type ClusterNode, RealCluster } from './cluster.ts';
import { EtcdServer } from './etcd-server.ts';
import { RealKsr } from './ksr.ts';
import { KubeApiServer } from './kube-api-server.ts';
import { KubeControllers } from './kube-controllers.ts';
import { Sandbox } from './sandbox.ts';
import { Station } from './station.ts';

const NAMESPACE = 'default';
/** Of VPP on each node. */
export const MAIN_INTERFACE = 'host-uplink';

export interface PodOptions {
  readonly node: 'node1' | 'node2';
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** At which it serves, over TCP and UDP. */
  readonly port?: number;
}

/** A pod with its network; its station serves and connects. */
export interface RunningPod {
  readonly name: string;
  readonly namespace: string;
  readonly node: ClusterNode;
  readonly sandbox: Sandbox;
  readonly address: string;
  readonly station: Station;
}

export class KubernetesCluster implements AsyncDisposable {
  readonly apiServer: KubeApiServer;
  readonly ksr: RealKsr;
  readonly cluster: RealCluster;
  readonly #folder: string;
  readonly #owned: AsyncDisposableStack;

  /** Two nodes that are ready. */
  static async start(): Promise<KubernetesCluster> {
    await using owned = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'kubernetes-'));
    owned.defer(() => rmSync(folder, { recursive: true, force: true }));
    buildContivCni(join(folder, 'contiv-cni'));
    const kubeEtcd = await EtcdServer.start();
    owned.defer(() => kubeEtcd.close());
    const apiServer = owned.use(await KubeApiServer.start({ etcd: `127.0.0.1:${kubeEtcd.port}` }));
    await apiServer.installNodeConfigs();
    const kubeconfig = apiServer.kubeconfig();
    owned.use(new KubeControllers(kubeconfig, join(folder, 'controllers.log')));
    let ksr: RealKsr | undefined;
    const cluster = owned.use(
      await RealCluster.create({
        nodes: 2,
        contiv: { routeServiceCIDRToVPP: true, crdNodeConfigurationDisabled: false },
        async before({ etcd }) {
          ksr = owned.use(await RealKsr.launch({ etcd: etcd.socket, kubeconfig }));
          await ksr.whenLeading();
        },
        async register(name, address) {
          await registerNode(apiServer, name, address);
          applyNodeConfig(apiServer, name, MAIN_INTERFACE);
        },
      }),
    );
    return new KubernetesCluster(apiServer, ksr!, cluster, folder, owned.move());
  }

  private constructor(
    apiServer: KubeApiServer,
    ksr: RealKsr,
    cluster: RealCluster,
    folder: string,
    owned: AsyncDisposableStack,
  ) {
    this.apiServer = apiServer;
    this.ksr = ksr;
    this.cluster = cluster;
    this.#folder = folder;
    this.#owned = owned;
  }

  node(name: string): ClusterNode {
    return this.cluster.nodes.find((node) => node.name === name)!;
  }

  /** Creates the pod at the API server, attaches it, and reports that it is ready. */
  async run(name: string, options: PodOptions): Promise<RunningPod> {
    const { namespace = NAMESPACE, labels = { app: name }, port } = options;
    const node = this.node(options.node);
    this.#applyObject({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, labels },
      spec: { nodeName: node.name, containers: [{ name: 'main', image: 'none' }] },
    });
    const sandbox = await Sandbox.create(name, namespace);
    const address = await this.attach(node, sandbox);
    sandbox.address = address;
    const station = new Station(name, sandbox);
    if (port !== undefined) await station.serve(port, '0.0.0.0');
    const pod = { name, namespace, node, sandbox, address, station };
    this.#owned.defer(async () => {
      station[Symbol.dispose]();
      await sandbox.remove();
    });
    await this.#reportReady(pod);
    return pod;
  }

  /** Deletes the pod, and its sandbox. */
  async end(pod: RunningPod): Promise<void> {
    const { name, namespace, node, sandbox, station } = pod;
    station[Symbol.dispose]();
    await this.detach(node, sandbox);
    using client = this.apiServer.client();
    await client.delete(`/api/v1/namespaces/${namespace}/pods/${name}`);
  }

  /** Creates or changes a service of pods by their label `app`. */
  applyService(name: string, app: string, port: number): void {
    this.#applyObject({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: NAMESPACE },
      spec: {
        selector: { app },
        ports: [
          { name: 'tcp', protocol: 'TCP', port },
          { name: 'udp', protocol: 'UDP', port },
        ],
      },
    });
  }

  /** Cluster address of a service. */
  async addressOf(service: string): Promise<string> {
    using client = this.apiServer.client();
    const path = `/api/v1/namespaces/${NAMESPACE}/services/${service}`;
    const { spec } = await client.get<{ readonly spec: { readonly clusterIP: string } }>(path);
    return spec.clusterIP;
  }

  /** @param spec of the policy, which is in the namespace default unless another one is named */
  applyPolicy(name: string, spec: object | undefined, namespace = NAMESPACE): void {
    const apiVersion = 'networking.k8s.io/v1';
    this.#applyObject({ apiVersion, kind: 'NetworkPolicy', metadata: { name, namespace }, spec });
  }

  /** @param mainInterface of the node's VPP */
  applyNodeConfig(node: string, mainInterface: string): void {
    applyNodeConfig(this.apiServer, node, mainInterface);
  }

  /** State that the status of a NodeConfig shows, of its present content; empty: none yet. */
  nodeConfigState(node: string): string {
    return this.apiServer.kubectl('get', 'nodeconfig', node, '--output=jsonpath={.status.state}');
  }

  delete(kind: string, name: string): void {
    this.apiServer.kubectl('delete', kind, name);
  }

  async connect({ station }: RunningPod, to: Target): Promise<Answer> {
    const [answer] = await station.connect(to, 1);
    assert.ok(answer);
    return answer;
  }

  /** Ends all processes, also those of a cluster whose start has failed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned[Symbol.asyncDispose]();
  }

  #applyObject(object: object): void {
    // JSON is YAML
    this.apiServer.apply(JSON.stringify(object));
  }

  /** @returns the address of the pod */
  async attach(node: ClusterNode, sandbox: Sandbox): Promise<string> {
    const result = JSON.parse(await this.#cni(node, sandbox, 'ADD')) as {
      readonly ips: readonly { readonly address: string }[];
    };
    return result.ips[0]!.address.split('/')[0]!;
  }

  async detach(node: ClusterNode, sandbox: Sandbox): Promise<void> {
    await this.#cni(node, sandbox, 'DEL');
    await sandbox.remove();
  }

  #cni({ node }: ClusterNode, sandbox: Sandbox, command: 'ADD' | 'DEL'): Promise<string> {
    const config = {
      cniVersion: '1.0.0',
      name: 'k8s-pod-network',
      type: 'contiv-cni',
      grpcServer: node.agent.cniSocket,
      logFile: join(this.#folder, 'cni.log'),
    };
    const env = {
      CNI_COMMAND: command,
      CNI_CONTAINERID: sandbox.containerId,
      CNI_NETNS: sandbox.path,
      CNI_IFNAME: 'eth0',
      CNI_PATH: this.#folder,
      CNI_ARGS: sandbox.request().extra_arguments,
    };
    const [program = '', ...args] = [...node.netns.enter, join(this.#folder, 'contiv-cni')];
    return new Promise((resolve, reject) => {
      const child = execFile(program, args, { env: { ...process.env, ...env } }, (error, output) =>
        error === null ? resolve(output) : reject(new Error(`${command}: ${output}`)),
      );
      child.stdin!.end(JSON.stringify(config));
    });
  }

  /** The status that kubelet reports. */
  async #reportReady({ name, namespace, node, address }: RunningPod): Promise<void> {
    using client = this.apiServer.client();
    await client.patch(`/api/v1/namespaces/${namespace}/pods/${name}/status`, {
      status: {
        phase: 'Running',
        hostIP: node.host.address,
        podIP: address,
        podIPs: [{ ip: address }],
        conditions: ['Initialized', 'ContainersReady', 'Ready', 'PodScheduled'].map((type) => ({
          type,
          status: 'True',
        })),
      },
    });
  }
}

function applyNodeConfig(apiServer: KubeApiServer, name: string, interfaceName: string): void {
  const apiVersion = 'nodeconfig.contiv.vpp/v1';
  const spec = { mainVPPInterface: { interfaceName } };
  apiServer.apply(JSON.stringify({ apiVersion, kind: 'NodeConfig', metadata: { name }, spec }));
}

/** As kubelet registers its node. */
async function registerNode(
  apiServer: KubeApiServer,
  name: string,
  address: string,
): Promise<void> {
  using client = apiServer.client();
  await client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } });
  await client.patch(`/api/v1/nodes/${name}/status`, {
    status: {
      addresses: [
        { type: 'Hostname', address: name },
        { type: 'InternalIP', address },
      ],
      conditions: [{ type: 'Ready', status: 'True', reason: 'Test', message: '' }],
    },
  });
}
