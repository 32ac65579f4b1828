/**
 * Finds the source of the nodes. The first of these that the command line has is used, and no other:
 * `--server`, `--etcd-config`, `--kubeconfig`. Without them these are tried in order, and one that fails
 * is reported and left out: etcd by ETCD_CONFIG or ETCD_ENDPOINTS; Kubernetes by KUBECONFIG, by
 * `~/.kube/config`, by the service account of the pod; the agent of this machine by its unix socket.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import { type NodeSource, NodeSourceError } from './node-source.ts';
import { localSource, serverSource } from './server-source.ts';

type Variables = Readonly<Record<string, string | undefined>>;

export interface SourceOptions {
  readonly servers: readonly string[];
  readonly etcdConfig: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly env: Variables;
  readonly home: string;
  readonly localSocket: string;
  readonly timeoutMs: number;
  readonly warn: (text: string) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** A place where the nodes may be known. */
interface Candidate {
  readonly name: string;
  open(): Promise<NodeSource>;
}

/**
 * @returns a source whose nodes are read
 * @throws ServerAddressError, NodeSourceError (with each place that was tried)
 */
export async function findSource(options: SourceOptions): Promise<NodeSource> {
  const { given, found } = candidatesOf(options);
  const candidates = given ? [given] : found;
  const problems: string[] = [];
  for (const candidate of candidates) {
    const problem = `${candidate.name}: `;
    const source = await candidate.open().catch((thrown) => {
      options.signal.throwIfAborted();
      problems.push(problem + errorText(thrown));
      return undefined;
    });
    if (source === undefined) continue;
    if (problems.length > 0) options.warn(`${problems.join('; ')}. Using ${source.name} instead.`);
    return source;
  }
  throw new NodeSourceError(`the nodes of the cluster are not known: ${problems.join('; ')}`);
}

function candidatesOf(options: SourceOptions): {
  given: Candidate | undefined;
  found: readonly Candidate[];
} {
  const { servers, etcdConfig, kubeconfig, env, home, localSocket } = options;
  const found: Candidate[] = [];
  if (env['ETCD_CONFIG']) found.push(etcd('ETCD_CONFIG', env['ETCD_CONFIG'], options));
  else if (env['ETCD_ENDPOINTS']) found.push(etcd('ETCD_ENDPOINTS', undefined, options));
  const file = kubeconfigOf(env, home);
  if (file) found.push(kubernetes(file.origin, file.path, options));
  else if (env['KUBERNETES_SERVICE_HOST'])
    found.push(kubernetes('service account', undefined, options));
  found.push({
    name: `unix socket ${localSocket}`,
    open: async () => {
      if (!existsSync(localSocket)) throw new Error('no agent runs on this machine');
      return localSource(localSocket);
    },
  });
  if (servers.length > 0) {
    const source = serverSource(servers);
    return { given: { name: source.name, open: async () => source }, found };
  }
  if (etcdConfig) return { given: etcd('--etcd-config', etcdConfig, options), found };
  if (kubeconfig) return { given: kubernetes('--kubeconfig', kubeconfig, options), found };
  return { given: undefined, found };
}

function etcd(origin: string, file: string | undefined, options: SourceOptions): Candidate {
  return {
    name: `etcd (${origin})`,
    async open() {
      const { openEtcdSource } = await import('./etcd-source.ts');
      return await openEtcdSource({ ...options, file, origin });
    },
  };
}

function kubernetes(origin: string, file: string | undefined, options: SourceOptions): Candidate {
  return {
    name: `Kubernetes API server (${origin})`,
    async open() {
      const { openKubernetesSource } = await import('./kubernetes-source.ts');
      return await openKubernetesSource({ ...options, file, origin });
    },
  };
}

/** The first file of KUBECONFIG that exists, or that of kubectl. */
function kubeconfigOf(env: Variables, home: string): { origin: string; path: string } | undefined {
  const listed = (env['KUBECONFIG'] ?? '').split(':').filter((path) => path !== '');
  const [first] = listed;
  if (first !== undefined)
    return { origin: 'KUBECONFIG', path: listed.find((path) => existsSync(path)) ?? first };
  const path = join(home, '.kube/config');
  return existsSync(path) ? { origin: '~/.kube/config', path } : undefined;
}
