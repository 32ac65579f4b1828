/**
 * contiv-ksr from top to bottom: watches of the API server, wanted records, leader, and the server for
 * operators. This file lists the components in start order.
 */
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { KvStore } from '#datastore/api.ts';
import type { Election } from '#datastore/election.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import type { HttpConfig } from '#infra/http/config.ts';
import { wireHttpServer } from '#infra/http/wire-http-server.ts';
import { type Loggers, logRoutes } from '#infra/log/loggers.ts';
import { registerBuildInfo } from '#infra/metrics/build-info.ts';
import { type CertificateFiles, registerCertificates } from '#infra/metrics/certificates.ts';
import { metricsRoute } from '#infra/metrics/routes.ts';
import { type Component, Lifecycle } from '#infra/process/lifecycle.ts';
import { agentPrefix } from '#infra/service-label/service-label.ts';
import { probeRoutes } from '#infra/status/routes.ts';
import { type BuildInfo, StatusCheck } from '#infra/status/status.ts';
import type { Readers } from '#kubernetes/reflector/reflected.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { ApiServer, KindWatch } from './api-server/api.ts';
import { ApiNotFoundError } from './api-server/api-errors.ts';
import { ClusterPolicyStatusWriter } from './cluster-policy-status.ts';
import { Leader } from './leader.ts';
import { registerMetrics } from './metrics.ts';
import { NodeConfigStatusWriter } from './node-config-status.ts';
import { ClusterEnforcement } from './policy-enforcement/cluster-enforcement.ts';
import type { RecordStore } from './records/record-store.ts';
import { recordTexts } from './records/record-text.ts';
import { createReflector } from './records/reflector.ts';
import { RemovedNodes } from './records/removed-nodes.ts';
import { registerStatistics } from './statistics-metrics.ts';

const LIMITS = { startMs: 0, stopMs: 5_000 };
/** Interval in which the datastore is asked whether it answers, for the status. */
const PROBE_MS = 5_000;

export interface KsrDeps {
  /** Service label; the records are under `/vnf-agent/<label>/`. */
  readonly label: string;
  readonly readers: Readers;
  readonly http: HttpConfig;
  readonly apiServer: ApiServer;
  readonly store: RecordStore & Pick<KvStore, 'compareAndSwap' | 'compareAndDelete' | 'probe'>;
  readonly election: Election;
  readonly build: BuildInfo;
  readonly certificates: CertificateFiles;
  readonly clock: Clock;
  readonly random: Random;
  readonly loggers: Loggers;
}

export interface Ksr {
  /** Port of the REST server. */
  readonly port: number;
  readonly leader: Leader;
  start(): Promise<void>;
  /** Another instance may lead afterwards; the records stay. */
  stop(): Promise<void>;
}

export function createKsr(deps: KsrDeps): Ksr {
  const { label, readers, apiServer, store, election, clock, random, loggers } = deps;
  const log = loggers.get('ksr');
  const prefix = agentPrefix(label);
  const status = new StatusCheck(clock, deps.build);
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerBuildInfo(registry, deps.build);
  registerCertificates(registry, deps.certificates);
  const statistics = new Registry();

  const reflector = createReflector({ prefix, readers, clock, log });
  const removedNodes = new RemovedNodes({
    nodes: reflector.nodes,
    store,
    prefix,
    clock,
    random,
    log,
  });
  const watches = new Map<string, KindWatch>();
  /** While this instance leads. */
  let clusterPolicies: ClusterPolicyStatusWriter | undefined;
  const onSweep = registerMetrics({
    registry,
    reflector,
    clusterPolicies: () => clusterPolicies?.counts(),
    leader: () => leader,
    removedNodes,
    watches,
  });
  registerStatistics(statistics, label, reflector.records);
  const leader = new Leader({
    election,
    store,
    reflector,
    refresh: (kinds) => {
      for (const kind of kinds) watches.get(kind)?.refresh();
    },
    isCutOff: () => [...watches.values()].every(({ state }) => state === 'waiting'),
    removedNodes,
    prefix,
    clock,
    random,
    log,
    onSweep,
    startWork: () => {
      const { nodes } = reflector;
      const enforcement = new ClusterEnforcement({ store, nodes, prefix, clock, random, log });
      const texts = recordTexts(resources.clusternetworkpolicy, prefix, readers);
      clusterPolicies = new ClusterPolicyStatusWriter({
        apiServer,
        texts,
        enforcement,
        clock,
        log,
      });
      const writers = [
        new NodeConfigStatusWriter({ apiServer, store, clock, random, log }),
        clusterPolicies,
      ];
      for (const writer of writers) writer.start();
      return {
        close: async () => {
          clusterPolicies = undefined;
          await Promise.all(writers.map((writer) => writer.close()));
        },
      };
    },
  });
  const storeProbe = wireStoreProbe(store, status, clock);
  registerProblems(status, watches, leader);

  const http = wireHttpServer(
    deps.http,
    [
      ...probeRoutes(status),
      ...logRoutes(loggers),
      metricsRoute('/metrics', registry, clock),
      metricsRoute('/stats', statistics, clock),
    ],
    clock,
    loggers,
  );
  const watching: Component = {
    name: 'api-server',
    init: () => {
      for (const { kind, handlers } of reflector.watches)
        watches.set(kind.kind, apiServer.watch(kind, handlers));
    },
    close: () => {
      for (const watch of watches.values()) watch.close();
    },
  };
  const lifecycle = new Lifecycle(
    [
      http.component,
      storeProbe,
      watching,
      {
        name: 'removed-nodes',
        init: () => removedNodes.start(),
        close: () => removedNodes.close(),
      },
      { name: 'leader', init: () => leader.start(), close: () => leader.close() },
    ],
    LIMITS,
    clock,
    log,
  );
  return {
    leader,
    get port() {
      return http.port;
    },
    start: () => lifecycle.start(),
    stop: () => lifecycle.stop(),
  };
}

/** A follower is ready. What it depends on may be unavailable: it recovers by itself. */
function registerProblems(
  status: StatusCheck,
  watches: ReadonlyMap<string, KindWatch>,
  leader: Leader,
): void {
  status.registerProblem('api-server', 'none', () => {
    const failed = [...watches].flatMap(([kind, { state, error }]) =>
      state === 'waiting' && error && !(error instanceof ApiNotFoundError) ? [{ kind, error }] : [],
    );
    const [first] = failed;
    return first && `no watch of ${failed.length} kinds; ${first.kind}: ${first.error.message}`;
  });
  status.registerProblem('records', 'none', () => {
    const failed = leader.kinds().find(({ problem }) => problem !== undefined);
    return failed && `${failed.name}: ${failed.problem}`;
  });
}

function wireStoreProbe(
  store: Pick<KvStore, 'probe'>,
  status: StatusCheck,
  clock: Clock,
): Component {
  const report = status.register('etcd', 'none');
  const closing = new AbortController();
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await store.probe().then(
        () => report('ok'),
        (error: unknown) => report('error', error),
      );
      await clock.sleep(PROBE_MS, closing.signal).catch(() => undefined);
    }
  };
  return { name: 'etcd', init: () => void run(), close: () => closing.abort() };
}
