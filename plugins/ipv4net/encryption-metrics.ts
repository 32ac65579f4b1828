import { Gauge, type Registry } from 'prom-client';
import { type OwnKeysPort, slots } from '#plugins/controller/api/ports/wireguard-keys.ts';
import type { Ipv4NetApi } from './api.ts';
import type { EncryptionStatus } from './encryption-status.ts';
import { wireguardInterface } from './names.ts';

/** Nodes with a series of their own: in a cluster of thousands an outage must not make as many of them. */
const MAX_NAMED_NODES = 20;

export interface EncryptionMetricsDeps {
  readonly status: Pick<EncryptionStatus, 'report'>;
  readonly ownKeys: OwnKeysPort;
  readonly net: Pick<Ipv4NetApi, 'wiredKeys' | 'encryptionProblem'>;
  /** Minutes; 0: only by command. */
  readonly lifetime: number;
  readonly clock: { wallTime(): number };
}

/** Metrics of the encryption between nodes. A node that encrypts nothing has no series of them. */
export class EncryptionMetrics {
  readonly #deps: EncryptionMetricsDeps;
  readonly #nodes: Gauge;
  readonly #withoutSession: Gauge;
  readonly #isolated: Gauge;
  readonly #age: Gauge;
  readonly #lifetime: Gauge;

  constructor(registry: Registry, deps: EncryptionMetricsDeps) {
    this.#deps = deps;
    const gauge = (name: string, help: string, label: string): Gauge =>
      new Gauge({ name, help, labelNames: [label], registers: [registry] });
    this.#nodes = gauge(
      'contiv_encryption_nodes',
      'Other nodes by how packets to them are protected: encrypted, clear-text; none are sent to no-session, isolated (for want of a key), unreachable (for another reason).',
      'state',
    );
    this.#withoutSession = gauge(
      'contiv_encryption_no_session_seconds',
      'Time since a node has no session of WireGuard with this one, or since this agent has known its key; of the 20 with the longest time.',
      'node',
    );
    this.#isolated = gauge(
      'contiv_encryption_isolated',
      '1 for a node to which nothing is sent for want of a key; of 20 of them.',
      'node',
    );
    this.#age = gauge(
      'contiv_encryption_key_age_seconds',
      'Age of a key of this node, by the interface of its sessions.',
      'interface',
    );
    this.#lifetime = gauge(
      'contiv_encryption_key_lifetime_seconds',
      'Age at which a key of this node is replaced; missing if keys are replaced only by command.',
      'interface',
    );
  }

  async refresh(): Promise<void> {
    for (const one of [this.#nodes, this.#withoutSession, this.#isolated]) one.reset();
    const report = this.#deps.status.report();
    if (report) {
      for (const [state, count] of report.counts) this.#nodes.set({ state }, count);
      for (const { name, duration } of report.withoutSession.slice(0, MAX_NAMED_NODES))
        this.#withoutSession.set({ node: name }, duration / 1_000);
      for (const node of report.isolated.slice(0, MAX_NAMED_NODES)) this.#isolated.set({ node }, 1);
    }
    await this.#refreshKeys();
  }

  async #refreshKeys(): Promise<void> {
    const { ownKeys, net, lifetime, clock } = this.#deps;
    // without a problem they are in memory, so that nothing fails here
    const hasKeys = net.wiredKeys() !== undefined && net.encryptionProblem() === undefined;
    const own = hasKeys ? await ownKeys.ownKeys() : undefined;
    this.#age.reset();
    this.#lifetime.reset();
    if (own === undefined) return;
    for (const slot of slots) {
      const labels = { interface: wireguardInterface(slot) };
      this.#age.set(labels, (clock.wallTime() - own.keys[slot].made) / 1_000);
      if (lifetime > 0) this.#lifetime.set(labels, lifetime * 60);
    }
  }
}
