/**
 * contiv-agent from top to bottom, part by part in the order of the data: stores, VPP and Linux, scheduler, event
 * handlers with their loop, and the servers for operators and for kubelet. Each `wire…()` of a part is in the folder
 * of the code that it wires.
 */
import { join } from 'node:path';
import { pageRoutes } from '#infra/http/page-routes.ts';
import { Lifecycle } from '#infra/process/lifecycle.ts';
import type { Controller } from '#plugins/controller/controller.ts';
import type { AgentDeps } from './assembly/agent-part.ts';
import { control } from './assembly/control.ts';
import { flows } from './assembly/flows.ts';
import { nodeStores } from './assembly/node-stores.ts';
import { nodeTasks } from './assembly/node-tasks.ts';
import { reporting } from './assembly/reporting.ts';
import { scheduling } from './assembly/scheduling.ts';
import { servers } from './assembly/servers.ts';
import { southbound } from './assembly/southbound.ts';
import { stateRoutes } from './assembly/state-routes.ts';
import { undeploy } from './undeploy.ts';

const STOP_LIMIT_MS = 5_000;

/** The web page, as npm ci builds it. */
const pageFolder = join(import.meta.dirname, '../../../dist/ui');

export interface Agent {
  /** Port of the REST server. */
  readonly port: number;
  /** Port of the gRPC services of grpc2.conf; undefined: not served, or on a unix socket. */
  readonly grpcPort: number | undefined;
  readonly controller: Controller;
  start(): Promise<void>;
  /** Stops the agent; its configuration of VPP and Linux stays. */
  stop(): Promise<void>;
  /**
   * Instead of `start`: removes everything that an agent of this label has configured in VPP and
   * Linux, and then what it has stored about it. Rejects, with the keys, when something could not
   * be removed; a second call continues from there.
   */
  undeploy(): Promise<void>;
}

export function createAgent(inputs: AgentDeps): Agent {
  const { settings, environment, clock, loggers } = inputs;
  const log = loggers.get('agent');
  const reports = reporting(inputs);
  const { status, registry, notifications } = reports;
  const deps = { ...inputs, status, registry };
  const stores = nodeStores(deps);
  const south = southbound(deps, stores);
  const schedule = scheduling(deps, south, notifications.interfaceState);
  const loop = control(deps, stores, south, schedule, notifications.event);
  const seen = flows(deps, south, schedule, loop);
  const tasks = nodeTasks(deps, stores, south, schedule, loop);
  const served = servers(deps, stores, south, schedule, loop, [
    ...reports.routes,
    ...pageRoutes(pageFolder),
    ...stores.routes,
    ...south.routes,
    ...schedule.routes,
    ...loop.routes,
    ...tasks.routes,
    ...seen.routes,
    ...stateRoutes(deps, south, schedule, loop, tasks),
  ]);

  const limits = { startMs: settings.startLimitMs, stopMs: STOP_LIMIT_MS };
  const lifecycle = new Lifecycle(
    [
      ...served.first,
      ...reports.components,
      // Before everything that may wait: a starting agent publishes its state, too.
      ...stores.components,
      ...south.components,
      ...loop.beforeVpp,
      // The startup resync reads VPP's interfaces; its deadline does not include the wait for VPP.
      south.connection,
      ...south.connected,
      ...schedule.components,
      ...loop.components,
      ...tasks.components,
      ...seen.components,
      ...served.last,
    ],
    limits,
    clock,
    log,
  );

  return {
    controller: loop.controller,
    get port() {
      return served.port;
    },
    get grpcPort() {
      return served.grpcPort;
    },
    start: async () => {
      for (const warning of settings.warnings) log.warn(warning);
      await lifecycle.start();
      for (const name of loggers.unusedNames)
        log.warn({ name }, 'logs.conf sets the level of a logger that does not exist');
    },
    stop: () => lifecycle.stop(),
    undeploy: () =>
      undeploy({
        client: south.vpp.client,
        connection: new Lifecycle([south.connection], limits, clock, log),
        controller: loop.controller,
        scheduler: schedule.scheduler,
        local: environment.local,
        external: environment.external,
        socketTable: environment.socketTable,
        flowSource: environment.flowSource,
      }),
  };
}
