/**
 * Finds the source of the nodes. The first of these that the command line has is used, and no other:
 * `--server`, `--etcd-config`, `--kubeconfig`. Without them these are tried in order, and one that fails
 * is reported and left out: etcd by ETCD_CONFIG or ETCD_ENDPOINTS; Kubernetes by KUBECONFIG; agents with a
 * simulated VPP that this user runs; Kubernetes by `~/.kube/config` or by the service account of the pod; the
 * agent of this machine by its unix socket.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { UserAgent } from '#infra/process/user-folder.ts';
import { type NodeSource, NodeSourceError } from './node-source.ts';
import { localSource, serverSource, userSource } from './server-source.ts';

type Variables = Readonly<Record<string, string | undefined>>;

export interface SourceOptions {
  readonly servers: readonly string[];
  readonly etcdConfig: string | undefined;
  readonly kubeconfig: string | undefined;
  readonly env: Variables;
  readonly home: string;
  readonly localSocket: string;
  readonly userAgents: () => Promise<readonly UserAgent[]>;
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
  const given = givenCandidate(options);
  const candidates = given ? [given] : await foundCandidates(options);
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

function givenCandidate(options: SourceOptions): Candidate | undefined {
  const { servers, etcdConfig, kubeconfig } = options;
  if (servers.length > 0) return known(serverSource(servers));
  if (etcdConfig) return etcd('--etcd-config', etcdConfig, options);
  if (kubeconfig) return kubernetes('--kubeconfig', kubeconfig, options);
  return undefined;
}

async function foundCandidates(options: SourceOptions): Promise<readonly Candidate[]> {
  const { env, home, localSocket } = options;
  const found: Candidate[] = [];
  if (env['ETCD_CONFIG']) found.push(etcd('ETCD_CONFIG', env['ETCD_CONFIG'], options));
  else if (env['ETCD_ENDPOINTS']) found.push(etcd('ETCD_ENDPOINTS', undefined, options));
  const named = kubeconfigOf(env);
  if (named !== undefined) found.push(kubernetes('KUBECONFIG', named, options));
  // A user who runs one means it, even with the configuration of kubectl for another cluster.
  const agents = await options.userAgents();
  if (agents.length > 0) found.push(known(userSource(agents)));
  const usual = join(home, '.kube/config');
  if (named === undefined && existsSync(usual))
    found.push(kubernetes('~/.kube/config', usual, options));
  else if (named === undefined && env['KUBERNETES_SERVICE_HOST'])
    found.push(kubernetes('service account', undefined, options));
  found.push({
    name: `unix socket ${localSocket}`,
    open: async () => {
      if (!existsSync(localSocket)) throw new Error('no agent of yours runs on this machine');
      return localSource(localSocket);
    },
  });
  return found;
}

function known(source: NodeSource): Candidate {
  return { name: source.name, open: async () => source };
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

/** The first file of KUBECONFIG that exists. */
function kubeconfigOf(env: Variables): string | undefined {
  const listed = (env['KUBECONFIG'] ?? '').split(':').filter((path) => path !== '');
  return listed.find((path) => existsSync(path)) ?? listed[0];
}
