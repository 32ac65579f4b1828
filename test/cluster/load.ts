/**
 * A client on the first node that asks a service with three backends on the second one ten times a second.
 * Each request has two seconds and runs beside the next ones, so that one that hangs does not change the rate.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { apply, getObject, kubectl } from './kubectl.ts';
import { createNamespace, deleteNamespace } from './namespaces.ts';
import { nodeName } from './network.ts';

export const AGNHOST = 'registry.k8s.io/e2e-test-images/agnhost:2.56';

const NAMESPACE = 'load';
const PORT = 8080;
const BACKENDS = 3;
const REQUEST_LIMIT_MS = 2000;
const PAUSE_US = 100_000;
const READY = ['--for=condition=Ready', '--timeout=180s'];

/** Prints a line a request: its start in seconds, and whether it was answered. `read` waits without a process. */
const CLIENT = `exec 3<> <(:)
due=\${EPOCHREALTIME/./}
while :; do
  { start=$EPOCHREALTIME
    curl -s -m ${REQUEST_LIMIT_MS / 1000} -o /dev/null "http://$1/hostname" && echo "$start answered" || echo "$start lost"
  } &
  due=$((due + ${PAUSE_US}))
  left=$((due - \${EPOCHREALTIME/./}))
  if [ $left -gt 0 ]; then
    printf -v left 0.%06d $left
    read -t $left -u 3
  fi
done`;

export interface Requests {
  readonly all: number;
  /** When each lost one started, in milliseconds since the epoch. */
  readonly lost: readonly number[];
}

export class Load {
  readonly #service: string;

  private constructor(service: string) {
    this.#service = service;
  }

  /** Resolves when requests are answered. */
  static async start(): Promise<Load> {
    createNamespace(NAMESPACE);
    const labels = { app: 'server' };
    const metadata = { name: 'server', namespace: NAMESPACE };
    const server = {
      name: 'server',
      image: AGNHOST,
      args: ['netexec', `--http-port=${PORT}`],
      readinessProbe: { httpGet: { path: '/hostname', port: PORT }, periodSeconds: 1 },
    };
    const template = {
      metadata: { labels },
      spec: { nodeName: nodeName(2), terminationGracePeriodSeconds: 0, containers: [server] },
    };
    apply(
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata,
        spec: { replicas: BACKENDS, selector: { matchLabels: labels }, template },
      },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata,
        spec: { selector: labels, ports: [{ port: 80, targetPort: PORT }] },
      },
    );
    kubectl('-n', NAMESPACE, 'rollout', 'status', 'deployment/server', '--timeout=180s');
    const { spec } = getObject<{ spec: { clusterIP: string } }>('-n', NAMESPACE, 'service/server');
    apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'client', namespace: NAMESPACE },
      spec: {
        nodeName: nodeName(1),
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            name: 'client',
            image: AGNHOST,
            command: ['bash', '-c', CLIENT, 'client', spec.clusterIP],
          },
        ],
      },
    });
    kubectl('-n', NAMESPACE, 'wait', 'pod/client', ...READY);
    const load = new Load(spec.clusterIP);
    await load.#untilAnswered();
    return load;
  }

  async #untilAnswered(): Promise<void> {
    for (let attempt = 0; attempt < 30; attempt++) {
      const start = Date.now();
      await sleep(2000);
      const { all, lost } = await this.requests(start, Date.now());
      if (all > 0 && lost.length === 0) return;
    }
    throw new Error(`the service ${this.#service} does not answer`);
  }

  /** Those that started in a time; resolves when the last of them has ended. */
  async requests(from: number, to: number): Promise<Requests> {
    await sleep(Math.max(0, to + REQUEST_LIMIT_MS + 500 - Date.now()));
    const since = `--since-time=${new Date(from).toISOString()}`;
    const text = kubectl('-n', NAMESPACE, 'logs', 'client', since);
    const requests = text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' '))
      .map(([start, result]) => ({ start: Number(start) * 1000, result }))
      .filter(({ start }) => start >= from && start < to);
    const lost = requests.filter(({ result }) => result === 'lost').map(({ start }) => start);
    return { all: requests.length, lost };
  }

  /** Resolves when all backends are ready in containers that have started since. */
  async untilBackendsStarted(since: number): Promise<void> {
    const end = performance.now() + 180_000;
    while (!backends().every((pod) => isStartedSince(pod, since))) {
      if (performance.now() > end)
        throw new Error('not within 180 s: the backends are ready again');
      await sleep(500);
    }
  }

  stop(): void {
    deleteNamespace(NAMESPACE);
  }
}

interface Pod {
  readonly status: {
    readonly containerStatuses?: readonly {
      readonly ready: boolean;
      readonly state: { readonly running?: { readonly startedAt: string } };
    }[];
  };
}

const backends = (): readonly Pod[] =>
  getObject<{ items: Pod[] }>('-n', NAMESPACE, 'pods', '-l', 'app=server').items;

function isStartedSince({ status }: Pod, since: number): boolean {
  const container = status.containerStatuses?.[0];
  const started = container?.state.running?.startedAt;
  return container?.ready === true && started !== undefined && Date.parse(started) >= since;
}
