/** Random changes of objects of each kind, also while the API server is unavailable. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '#infra/clock/clock.ts';
import { KubeApiError, type KubeClient } from './kube-client.ts';

const NAMESPACE = 'default';
const PARALLEL = 8;

interface ChangedKind {
  readonly path: string;
  /** How many objects there are at most. */
  readonly count: number;
  /** How often it is changed, in relation to the others. */
  readonly weight: number;
  object(number: number): object;
  /** Merge patch of the object, or of its status. */
  change(value: number): { readonly subresource?: 'status'; readonly patch: object };
}

const meta = (name: string, labels: Record<string, string> = {}) => ({ name, labels });
const labelled = (value: number) => ({ patch: { metadata: { labels: { value: `v${value}` } } } });
const namespaced = (root: string, plural: string) => `${root}/namespaces/${NAMESPACE}/${plural}`;
const ip = (value: number) => `10.1.${Math.floor(value / 250) % 250}.${1 + (value % 250)}`;

const kinds: readonly ChangedKind[] = [
  {
    path: namespaced('/api/v1', 'pods'),
    count: 100,
    weight: 6,
    object: (number) => ({
      metadata: meta(`pod-${number}`, { app: `app-${number % 7}` }),
      spec: { containers: [{ name: 'main', image: 'main' }] },
    }),
    change: (value) =>
      value % 3 === 0
        ? labelled(value)
        : {
            subresource: 'status',
            patch: { status: { podIP: ip(value), podIPs: [{ ip: ip(value) }], phase: 'Running' } },
          },
  },
  {
    path: namespaced('/api/v1', 'services'),
    count: 30,
    weight: 2,
    object: (number) => ({
      metadata: meta(`service-${number}`),
      spec: { selector: { app: `app-${number % 7}` }, ports: [{ port: 80 }] },
    }),
    change: (value) => ({ patch: { spec: { ports: [{ port: 1 + (value % 60_000) }] } } }),
  },
  {
    path: namespaced('/apis/discovery.k8s.io/v1', 'endpointslices'),
    count: 60,
    weight: 4,
    // Two slices a service.
    object: (number) => ({
      metadata: meta(`slice-${number}`, {
        'kubernetes.io/service-name': `service-${Math.floor(number / 2)}`,
      }),
      addressType: 'IPv4',
      ports: [{ name: '', port: 8080, protocol: 'TCP' }],
      endpoints: [{ addresses: [ip(number)], conditions: { ready: true } }],
    }),
    change: (value) => ({
      patch: { endpoints: [{ addresses: [ip(value)], conditions: { ready: value % 2 === 0 } }] },
    }),
  },
  {
    path: namespaced('/api/v1', 'endpoints'),
    count: 10,
    weight: 1,
    object: (number) => ({
      metadata: meta(`endpoints-${number}`),
      subsets: [{ addresses: [{ ip: ip(number) }], ports: [{ port: 80, protocol: 'TCP' }] }],
    }),
    change: (value) => ({
      patch: {
        subsets: [{ addresses: [{ ip: ip(value) }], ports: [{ port: 80, protocol: 'TCP' }] }],
      },
    }),
  },
  {
    path: namespaced('/apis/networking.k8s.io/v1', 'networkpolicies'),
    count: 20,
    weight: 2,
    object: (number) => ({
      metadata: meta(`policy-${number}`),
      spec: { podSelector: { matchLabels: { app: `app-${number % 7}` } } },
    }),
    change: (value) => ({
      patch: { spec: { ingress: [{ ports: [{ port: 1 + (value % 60_000), protocol: 'TCP' }] }] } },
    }),
  },
  {
    path: '/api/v1/nodes',
    count: 10,
    weight: 1,
    object: (number) => ({ metadata: meta(`node-${number}`) }),
    change: (value) => ({
      subresource: 'status',
      patch: { status: { addresses: [{ type: 'InternalIP', address: ip(value) }] } },
    }),
  },
];

const weighted = kinds.flatMap((kind) => Array.from({ length: kind.weight }, () => kind));

export class RandomChanges {
  /** Changes that the API server has accepted. */
  accepted = 0;
  readonly #client: KubeClient;
  readonly #random: Random;
  /** Objects that exist, by path; those under way are in neither state. */
  readonly #existing = new Map<string, boolean>();
  readonly #busy = new Set<string>();

  constructor(client: KubeClient, random: Random) {
    this.#client = client;
    this.#random = random;
  }

  /**
   * Makes many changes, a few at once. Those that the API server does not answer are repeated until it
   * does.
   */
  async make(count: number): Promise<void> {
    let left = count;
    const worker = async () => {
      while (left-- > 0) await this.#makeOne();
    };
    await Promise.all(Array.from({ length: PARALLEL }, worker));
  }

  #below(limit: number): number {
    return Math.floor(this.#random.next() * limit);
  }

  async #makeOne(): Promise<void> {
    const [kind, number, path] = this.#choice();
    this.#busy.add(path);
    if (!this.#existing.get(path)) {
      await this.#repeated(() => this.#client.create(kind.path, kind.object(number)));
      this.#existing.set(path, true);
    } else if (this.#random.next() < 0.3) {
      await this.#repeated(() => this.#client.delete(path));
      this.#existing.set(path, false);
    } else {
      const { subresource, patch } = kind.change(this.#below(10_000));
      const target = subresource === undefined ? path : `${path}/${subresource}`;
      await this.#repeated(() => this.#client.patch(target, patch));
    }
    this.#busy.delete(path);
    this.accepted++;
  }

  #choice(): [ChangedKind, number, string] {
    for (;;) {
      const kind = weighted[this.#below(weighted.length)]!;
      const number = this.#below(kind.count);
      const { name } = (kind.object(number) as { metadata: { name: string } }).metadata;
      const path = `${kind.path}/${name}`;
      if (!this.#busy.has(path)) return [kind, number, path];
    }
  }

  async #repeated(request: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await request();
        return;
      } catch (error) {
        const status = error instanceof KubeApiError ? error.status : 0;
        // An earlier attempt was carried out, and its answer was lost.
        if (attempt > 1 && (status === 404 || status === 409)) return;
        if (status >= 400 && status < 500 && status !== 429) throw error;
        await sleep(100);
      }
    }
  }
}
