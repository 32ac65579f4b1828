/** Metrics of contiv-ksr on `/metrics`. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { KindWatch, WatchState } from './api-server/api.ts';
import type { ConditionStatus } from './condition.ts';
import type { Leader } from './leader.ts';
import type { RecordCounters } from './records/counters.ts';
import type { Reflector } from './records/reflector.ts';
import type { RemovedNodes } from './records/removed-nodes.ts';

export interface KsrMetricsDeps {
  readonly registry: Registry;
  readonly reflector: Reflector;
  readonly leader: () => Leader;
  readonly removedNodes: RemovedNodes;
  /** How many are enforced by the nodes, are not, and may be; undefined: another instance knows it. */
  readonly clusterPolicies: () => Readonly<Record<ConditionStatus, number>> | undefined;
  /** By kind; empty before the start. */
  readonly watches: ReadonlyMap<string, KindWatch>;
}

const watchStates: readonly WatchState[] = ['listing', 'watching', 'waiting'];

const writes: readonly (readonly [operation: string, result: string, keyof RecordCounters])[] = [
  ['add', 'success', 'adds'],
  ['update', 'success', 'updates'],
  ['delete', 'success', 'deletes'],
  ['add', 'failure', 'addErrors'],
  ['update', 'failure', 'updateErrors'],
  ['delete', 'failure', 'deleteErrors'],
];

/** @returns observes the duration of a sweep */
export function registerMetrics(deps: KsrMetricsDeps): (kind: string, seconds: number) => void {
  registerLeaderMetrics(deps);
  registerWatchMetrics(deps);
  registerRecordMetrics(deps);
  registerWriteMetrics(deps);
  registerEnforcementMetric(deps);
  const durations = new Histogram({
    name: 'contiv_ksr_sweep_duration_seconds',
    help: 'Duration of a complete comparison of the records of a kind with the datastore.',
    labelNames: ['kind'],
    buckets: [0.01, 0.1, 1, 10, 60],
    registers: [deps.registry],
  });
  return (kind, seconds) => durations.observe({ kind }, seconds);
}

function registerLeaderMetrics({ registry, leader, removedNodes }: KsrMetricsDeps): void {
  const registers = [registry];
  new Gauge({
    name: 'contiv_ksr_leader',
    help: '1 while this instance leads and writes, 0 while it follows another one.',
    registers,
    collect() {
      this.set(leader().isLeader ? 1 : 0);
    },
  });
  new Counter({
    name: 'contiv_ksr_leader_terms_total',
    help: 'How often this instance became the leader.',
    registers,
    collect() {
      this.reset();
      this.inc(leader().terms);
    },
  });
  new Gauge({
    name: 'contiv_ksr_removed_nodes',
    help: 'Nodes that have left the cluster and whose data is not deleted yet.',
    registers,
    collect() {
      this.set(removedNodes.waiting);
    },
  });
}

function registerEnforcementMetric({ registry, clusterPolicies }: KsrMetricsDeps): void {
  new Gauge({
    name: 'contiv_ksr_cluster_policies',
    help: 'ClusterNetworkPolicies by their condition Enforced; absent for a follower.',
    labelNames: ['enforced'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [enforced, count] of Object.entries(clusterPolicies() ?? {}))
        this.set({ enforced }, count);
    },
  });
}

function registerWatchMetrics({ registry, watches }: KsrMetricsDeps): void {
  const registers = [registry];
  new Gauge({
    name: 'contiv_ksr_watch_state',
    help: '1 for the current state of the watch of a kind: listing, watching or waiting.',
    labelNames: ['kind', 'state'],
    registers,
    collect() {
      for (const [kind, watch] of watches)
        for (const state of watchStates) this.set({ kind, state }, watch.state === state ? 1 : 0);
    },
  });
  new Gauge({
    name: 'contiv_ksr_watch_last_change_timestamp_seconds',
    help: 'When the watch of a kind got its current state.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, watch] of watches) this.set({ kind }, watch.since / 1000);
    },
  });
}

function registerRecordMetrics({ registry, reflector, leader }: KsrMetricsDeps): void {
  const registers = [registry];
  const labelNames = ['kind'];
  new Gauge({
    name: 'contiv_ksr_records',
    help: 'Records that the objects of the API server give.',
    labelNames,
    registers,
    collect() {
      for (const { name, table } of reflector.records) this.set({ kind: name }, table.size);
    },
  });
  new Gauge({
    name: 'contiv_ksr_unreadable_objects',
    help: 'Objects that cannot be read, as a whole or in parts: such a policy permits less, other records stay as they were.',
    labelNames,
    registers,
    collect() {
      for (const { name, table } of reflector.records) this.set({ kind: name }, table.unreadable);
    },
  });
  new Gauge({
    name: 'contiv_ksr_oversized_records',
    help: 'Records that are not written because etcd does not take their size.',
    labelNames,
    registers,
    collect() {
      for (const { name, tooLarge } of leader().kinds()) this.set({ kind: name }, tooLarge);
    },
  });
}

function registerWriteMetrics({ registry, reflector, leader }: KsrMetricsDeps): void {
  const registers = [registry];
  new Gauge({
    name: 'contiv_ksr_pending_records',
    help: 'Records that differ from the datastore, as far as known; 0 for a follower.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const { name, pending } of leader().kinds()) this.set({ kind: name }, pending);
    },
  });
  new Gauge({
    name: 'contiv_ksr_synchronized',
    help: '1 while the datastore has all records of a kind, as far as known; 0 for a follower.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const { name, state } of leader().kinds())
        this.set({ kind: name }, state === 'synchronized' ? 1 : 0);
    },
  });
  new Counter({
    name: 'contiv_ksr_writes_total',
    help: 'Records written to the datastore, by operation and result.',
    labelNames: ['kind', 'operation', 'result'],
    registers,
    collect() {
      this.reset();
      for (const { name: kind, counters } of reflector.records)
        for (const [operation, result, counter] of writes)
          this.inc({ kind, operation, result }, counters[counter]);
    },
  });
  new Counter({
    name: 'contiv_ksr_sweeps_total',
    help: 'Comparisons of all records of a kind with the datastore, by result.',
    labelNames: ['kind', 'result'],
    registers,
    collect() {
      this.reset();
      for (const { name: kind, counters } of reflector.records) {
        this.inc({ kind, result: 'success' }, counters.resyncs - counters.resyncErrors);
        this.inc({ kind, result: 'failure' }, counters.resyncErrors);
      }
    },
  });
}
