/**
 * A kube-apiserver with the data in an etcd of the test: on loopback or in a network namespace, with
 * its own certificate, tokens and folder. No controller runs beside it: what controllers do (slices of
 * services, deletion of the objects of a namespace), tests do.
 */
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findKubeProgram } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { Background } from './background.ts';
import { freePort } from './free-port.ts';
import { KubeClient } from './kube-client.ts';
import { kubectl } from './kubectl.ts';

const repository = resolve(import.meta.dirname, '../../..');
const ADMIN_TOKEN = 'admin-token';
/** It needs 5 s of CPU, on a machine that may be busy. */
const READY_LIMIT_MS = 120_000;

export interface KubeApiServerOptions {
  /** Clients' port of etcd, `<address>:<port>`. */
  readonly etcd: string;
  /** To listen on; default 127.0.0.1. */
  readonly address?: string;
  /** Words before the command, for example to enter a network namespace. */
  readonly enter?: readonly string[];
  readonly serviceCidr?: string;
  readonly flags?: readonly string[];
}

export class KubeApiServer implements AsyncDisposable {
  readonly #options: KubeApiServerOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), 'kube-api-server-'));
  readonly #address: string;
  readonly #port: number;
  #process: Background | undefined;

  /** Resolves when it is ready. */
  static async start(options: KubeApiServerOptions): Promise<KubeApiServer> {
    const server = new KubeApiServer(options, await freePort());
    try {
      await server.run();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(options: KubeApiServerOptions, port: number) {
    this.#options = options;
    this.#address = options.address ?? '127.0.0.1';
    this.#port = port;
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(this.#keyFile, privateKey.export({ type: 'pkcs1', format: 'pem' }));
    writeFileSync(this.#tokenFile, `${ADMIN_TOKEN},admin,admin,"system:masters"\n`);
  }

  get #keyFile(): string {
    return join(this.#folder, 'service-accounts.key');
  }

  get #tokenFile(): string {
    return join(this.#folder, 'tokens.csv');
  }

  /** The server makes it at its first start, and keeps it. */
  get #certificate(): string {
    return join(this.#folder, 'apiserver.crt');
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `https://${this.#address}:${this.#port}`;
  }

  /** Starts the process, on the data that etcd has; resolves when it is ready. */
  async run(): Promise<void> {
    const { etcd, enter = [], serviceCidr = '10.96.0.0/16', flags = [] } = this.#options;
    this.#process = new Background(
      [
        ...enter,
        findKubeProgram('kube-apiserver')!,
        `--etcd-servers=http://${etcd}`,
        `--bind-address=${this.#address}`,
        `--advertise-address=${this.#address}`,
        `--secure-port=${this.#port}`,
        `--cert-dir=${this.#folder}`,
        // Endpoints of the service `kubernetes` cannot have an address of loopback.
        '--endpoint-reconciler-type=none',
        `--service-cluster-ip-range=${serviceCidr}`,
        `--service-account-key-file=${this.#keyFile}`,
        `--service-account-signing-key-file=${this.#keyFile}`,
        '--service-account-issuer=https://kubernetes.default.svc',
        '--authorization-mode=RBAC',
        `--token-auth-file=${this.#tokenFile}`,
        // It rejects pods until a controller has made the account of their namespace.
        '--disable-admission-plugins=ServiceAccount',
        ...flags,
      ],
      { log: join(this.#folder, 'kube-apiserver.log') },
    );
    const isReady = async () => {
      this.#process!.assertRunning();
      if (!existsSync(this.#certificate)) return false;
      return await this.#answersReady();
    };
    await until('the API server is ready', isReady, READY_LIMIT_MS);
  }

  async #answersReady(): Promise<boolean> {
    using client = this.client();
    return await client.get('/readyz').then(
      () => true,
      () => false,
    );
  }

  /** Requests of the test. @param token of a service account; default: an administrator's */
  client(token = ADMIN_TOKEN): KubeClient {
    return new KubeClient(this.url, readFileSync(this.#certificate, 'utf8'), token);
  }

  /** Writes a kubeconfig. @param token of a service account; default: an administrator's */
  kubeconfig({ name = 'admin', token = ADMIN_TOKEN, server = this.url } = {}): string {
    const file = join(this.#folder, `${name}.kubeconfig`);
    const authority = readFileSync(this.#certificate).toString('base64');
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': authority } }],
      users: [{ name, user: { token } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: name } }],
      'current-context': 'test',
    };
    // JSON is YAML
    writeFileSync(file, JSON.stringify(config));
    return file;
  }

  /** Runs kubectl as an administrator. @throws with what it printed when it fails */
  kubectl(...args: string[]): string {
    return this.#kubectl(args, undefined);
  }

  /** `kubectl apply` of manifests. */
  apply(manifests: string, ...flags: string[]): string {
    return this.#kubectl(['apply', '-f', '-', ...flags], manifests);
  }

  /** Resolves when objects of the kind NodeConfig can be applied. */
  async installNodeConfigs(): Promise<void> {
    this.apply(
      readFileSync(join(repository, 'deploy/helm/contiv-vswitch/crds/nodeconfig.yaml'), 'utf8'),
    );
    this.kubectl('wait', '--for=condition=Established', 'crd/nodeconfigs.nodeconfig.contiv.vpp');
    // discovery follows a moment later
    await until('the kind is served', () => {
      try {
        this.kubectl('get', 'nodeconfigs');
        return true;
      } catch {
        return false;
      }
    });
  }

  #kubectl(args: readonly string[], input: string | undefined): string {
    const cache = join(this.#folder, 'kubectl-cache');
    return kubectl([`--kubeconfig=${this.kubeconfig()}`, `--cache-dir=${cache}`, ...args], {
      input,
      enter: this.#options.enter ?? [],
    });
  }

  /** Deletes a namespace with all its objects, as the controllers of Kubernetes do. */
  async deleteNamespace(name: string): Promise<void> {
    const path = `/api/v1/namespaces/${name}`;
    const kinds = [
      'api/v1/pods',
      'api/v1/services',
      'api/v1/endpoints',
      'networking.k8s.io/v1/networkpolicies',
      'discovery.k8s.io/v1/endpointslices',
    ];
    using client = this.client();
    await client.delete(path);
    for (const kind of kinds) {
      const [group = '', version = '', plural = ''] = kind.split('/');
      const root = group === 'api' ? '/api' : `/apis/${group}`;
      await client.deleteAll(`${root}/${version}/namespaces/${name}/${plural}`);
    }
    const namespace = await client.get<{ spec: { finalizers?: string[] } }>(path);
    await client.replace(`${path}/finalize`, { ...namespace, spec: { finalizers: [] } });
  }

  suspend(): Promise<void> {
    return this.#process!.suspend();
  }

  resume(): void {
    this.#process!.resume();
  }

  /** `run` starts it again. */
  async kill(): Promise<void> {
    await this.#process?.end('SIGKILL');
  }

  /** End of its log. */
  tail(): string {
    return this.#process?.tail() ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
