/** The event handlers, the event loop, and its producers: the watcher of the datastore and clients by gRPC. */
import { etcdOptions } from '#datastore/config.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import { agentPrefix } from '#infra/service-label/service-label.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { mergeValues } from '#models/merge.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import type { Controller } from '#plugins/controller/controller.ts';
import { DesiredState } from '#plugins/controller/desired-state.ts';
import type { EventRecord } from '#plugins/controller/event-record.ts';
import { controllerRoutes } from '#plugins/controller/routes.ts';
import { wireController } from '#plugins/controller/wire-controller.ts';
import { wireDbWatcher } from '#plugins/dbwatcher/wire-dbwatcher.ts';
import {
  type WiredConfigServices,
  wireConfigServices,
  wireStoredConfig,
} from '#plugins/extconfig/wire-extconfig.ts';
import type { Attachment } from '#plugins/podmanager/api.ts';
import { ProgrammingLatency } from '#plugins/service/programming-latency.ts';
import { stnDaemonClient } from '#stn/daemon-client.ts';
import { createPlugins, type Plugins } from '../plugins.ts';
import type { AgentPart, PartDeps } from './agent-part.ts';
import { earlyCopy } from './early-copy.ts';
import type { NodeStores } from './node-stores.ts';
import type { Scheduling } from './scheduling.ts';
import type { Southbound } from './southbound.ts';

export interface Control extends AgentPart {
  readonly plugins: Plugins;
  readonly controller: Controller;
  /** Calls back after each event. For one listener, before the loop starts. */
  watchEvents(listener: (event: Event) => void): void;
  /** Services for clients that send external configuration; undefined: they are not served. */
  readonly clients: Pick<WiredConfigServices, 'services' | 'writer'> | undefined;
  /** Start while VPP is being connected, and may delay that. */
  readonly beforeVpp: readonly Component[];
}

/** Keys in the datastore. */
function* podRecordKeys(attachments: Iterable<Attachment>): Generator<string> {
  for (const { pod } of attachments)
    yield REFLECTOR_PREFIX + resources.pod.key(pod.name, pod.namespace);
}

/** @param onProcessed called with the record of each processed event */
export function control(
  deps: PartDeps,
  stores: NodeStores,
  { vpp, linux, ownKeys, onProcessed: tellSouthbound }: Southbound,
  { scheduler, onTransaction }: Scheduling,
  onProcessed: ((record: EventRecord) => void) | undefined,
): Control {
  const { settings, environment, build, status, registry, clock, random, loggers, print } = deps;
  const { label, contiv, service, etcd, env } = settings;
  const etcdEndpoints = etcd && etcdOptions(etcd, env).endpoints;
  const { cluster, local, localDisk, mirror, isShared, gate } = stores;
  const desired = new DesiredState();
  const recordsFlows = environment.flowSource !== undefined;
  const plugins = createPlugins(
    label,
    { contiv, service, etcdEndpoints, recordsFlows },
    {
      cluster,
      local,
      localDisk,
      vpp: vpp.port,
      host: linux.port,
      stn: stnDaemonClient(contiv.stnSocketFile, clock),
      ownKeys,
      sessions: vpp.wireguardSessions,
      desired,
    },
    { modules: deps.pluginModules },
  );
  const stored =
    environment.external &&
    wireStoredConfig({
      store: environment.external,
      disk: environment.externalDisk,
      status,
      clock,
      log: loggers.get('extconfig'),
    });
  let eventListener: (event: Event) => void = () => undefined;
  const programming = new ProgrammingLatency(registry, clock);
  const { controller, component: controllerComponent } = wireController({
    config: settings.controller,
    handlers: plugins.handlers,
    desired,
    sink: scheduler,
    merge: (key, base, over) => {
      const merged = mergeValues(key, base, over);
      scheduler.validate(key, merged);
      return merged;
    },
    failedValues: () => scheduler.failedValues(),
    southboundGeneration: () =>
      vpp.client.state === 'connected' ? vpp.client.generation : undefined,
    externalSources: [...(deps.externalSources ?? []), ...(stored ? [stored.stored] : [])],
    onProcessed: (processed) => {
      eventListener(processed.event);
      programming.observe(processed.event, processed.error);
      tellSouthbound(processed.record);
      onProcessed?.(processed.record);
    },
    isStartDelayed: () => gate.missing !== undefined || watcher.status.reading,
    recorded: {
      version: build.version,
      label,
      settings: { contiv, service, etcdEndpoints, recordsFlows, plugins: settings.plugins },
    },
    registry,
    status,
    clock,
    random,
    loggers,
    print,
  });
  vpp.onReconnect(() => controller.southboundReconnected());
  vpp.wireguardSessions.onLost(() =>
    controller.southboundBroken('a session of WireGuard ended, and does not begin again'),
  );
  const clients =
    stored &&
    wireConfigServices({
      ...stored,
      loop: controller,
      registry,
      clock,
      log: loggers.get('extconfig'),
    });
  const {
    watcher,
    component: watcherComponent,
    statesChanged,
  } = wireDbWatcher({
    loop: controller,
    cluster,
    startGate: gate,
    mirror,
    isShared,
    nodeName: label,
    agentPrefix: agentPrefix(label),
    ownPodKeys: () => podRecordKeys(plugins.pods.attachments().values()),
    host: settings.env['HOST_IP'] || settings.env['HOSTNAME'] || 'unknown',
    config: settings.controller,
    valueStates: {
      statesOf: (key) => scheduler.status(key),
      isSettled: () => controller.isIdle && scheduler.load.isIdle,
    },
    registry,
    status,
    clock,
    random,
    log: loggers.get('dbwatcher'),
  });
  onTransaction(statesChanged);
  const copy =
    mirror &&
    earlyCopy({
      label,
      contiv,
      cluster,
      mirror,
      gate,
      nodes: plugins.nodes,
      vppConnected: () => vpp.client.whenConnected(),
      clock,
      log: loggers.get('dbwatcher'),
    });
  return {
    plugins,
    controller,
    watchEvents: (listener) => {
      eventListener = listener;
    },
    clients,
    // VPP may start only when the node can do without the database.
    beforeVpp: copy ? [copy] : [],
    components: [
      ...(stored && clients ? [stored.component, clients.component] : []),
      controllerComponent,
      watcherComponent,
    ],
    routes: controllerRoutes({
      clock,
      history: controller.history,
      verification: controller.verification,
      verificationEnabled: settings.controller.enableVerification,
      transaction: (seqNum) => scheduler.record(seqNum),
      requestResync: (request) => watcher.requestResync(request),
    }),
  };
}
