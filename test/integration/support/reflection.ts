/**
 * A kube-apiserver on an etcd, contiv-ksr, and an agent's view of a second etcd, into which contiv-ksr
 * writes. The two databases can fail one without the other.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdStore } from '#datastore/etcd/store.ts';
import { REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import { AgentView } from './agent-view.ts';
import { EtcdServer } from './etcd-server.ts';
import { type KsrOptions, RealKsr } from './ksr.ts';
import { KubeApiServer } from './kube-api-server.ts';
import type { KubeClient } from './kube-client.ts';
import { listReflected, type Records, recordsOf } from './reflected-state.ts';

/** The slowest step: contiv-ksr, killed, waits until the lease of its election has ended. */
const LIMIT_MS = 120_000;

/** Of the records of Kubernetes: other records of contiv-ksr are about itself. */
const PREFIX = `${REFLECTOR_PREFIX}k8s/`;

export class Reflection implements AsyncDisposable {
  readonly kubeEtcd: EtcdServer;
  readonly etcd: EtcdServer;
  readonly apiServer: KubeApiServer;
  readonly client: KubeClient;
  /** For another contiv-ksr. */
  readonly ksrOptions: KsrOptions;
  readonly ksr: RealKsr;
  readonly agent: AgentView;
  readonly #store: EtcdStore;

  /** Resolves when contiv-ksr is ready, or the rest is. */
  static async start(
    ksrState: 'running' | 'not started' = 'running',
    apiServerFlags: readonly string[] = [],
  ): Promise<Reflection> {
    const [kubeEtcd, etcd] = [await EtcdServer.start(), await EtcdServer.start()];
    const apiServer = await KubeApiServer.start({
      etcd: `127.0.0.1:${kubeEtcd.port}`,
      flags: apiServerFlags,
    });
    const ksrOptions = {
      etcd: `127.0.0.1:${etcd.port}`,
      kubeconfig: apiServer.kubeconfig(),
    };
    const ksr = await RealKsr.create(ksrOptions);
    const reflection = new Reflection({ kubeEtcd, etcd, apiServer, ksrOptions, ksr });
    if (ksrState === 'not started') return reflection;
    try {
      ksr.run();
      await ksr.whenReady();
      return reflection;
    } catch (error) {
      await reflection[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor({
    kubeEtcd,
    etcd,
    apiServer,
    ksrOptions,
    ksr,
  }: Pick<Reflection, 'kubeEtcd' | 'etcd' | 'apiServer' | 'ksrOptions' | 'ksr'>) {
    this.kubeEtcd = kubeEtcd;
    this.etcd = etcd;
    this.apiServer = apiServer;
    this.ksrOptions = ksrOptions;
    this.ksr = ksr;
    this.client = apiServer.client();
    this.#store = etcd.store(etcd.port, 5000);
    this.agent = new AgentView(etcd.store());
  }

  /** Records of etcd. */
  async stored(): Promise<Records> {
    const { entries } = await this.#store.list(PREFIX);
    return new Map(entries.map(({ key, value }) => [key, value]));
  }

  /**
   * Waits until etcd has exactly what the API server has, and the agent has both. Nothing may change
   * at the API server meanwhile.
   */
  async assertConverges(): Promise<Records> {
    const wanted = recordsOf(await listReflected(this.client), 'mixed');
    await converges('etcd', wanted, () => this.stored().catch(() => new Map()));
    await converges('the agent', wanted, async () => this.agent.records(wanted));
    return wanted;
  }

  /** Changes a record behind the back of contiv-ksr; undefined deletes it. */
  async write(key: string, text: string | undefined): Promise<void> {
    if (text === undefined) await this.#store.delete(key);
    else await this.#store.put(key, text);
  }

  /** @returns the keys of all records that were written meanwhile, also those of another process */
  async writesDuring(action: () => Promise<void>): Promise<string[]> {
    const keys: string[] = [];
    const { revision } = await this.#store.list(PREFIX);
    const watch = this.#store.watch(PREFIX, revision, {
      onChanges: (changes) => keys.push(...changes.map(({ key }) => key)),
      onLost: (reason) => keys.push(`lost: ${reason.message}`),
    });
    try {
      await action();
    } finally {
      watch.close();
    }
    return keys;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client[Symbol.dispose]();
    await this.agent[Symbol.asyncDispose]();
    await this.ksr[Symbol.asyncDispose]();
    await this.#store.close();
    await this.apiServer[Symbol.asyncDispose]();
    await this.etcd.close();
    await this.kubeEtcd.close();
  }
}

/** @throws with the records that differ, when they still do at the end */
export async function converges(
  what: string,
  wanted: Records,
  read: () => Promise<Records>,
): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  for (;;) {
    const faults = differences(wanted, await read());
    if (faults.length === 0) return;
    if (performance.now() > end)
      assert.deepEqual(faults.slice(0, 10), [], `${what}: ${faults.length} records differ`);
    await sleep(50);
  }
}

export function differences(wanted: Records, actual: Records): string[] {
  const keys = new Set([...wanted.keys(), ...actual.keys()]);
  return [...keys]
    .filter((key) => wanted.get(key) !== actual.get(key))
    .map((key) => `${key}: ${actual.get(key) ?? 'missing'}, not ${wanted.get(key) ?? 'anything'}`);
}
