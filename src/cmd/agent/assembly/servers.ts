/** The servers: REST for operators, CNI for kubelet, and the gRPC services of grpc2.conf. */
import { genericServices } from '#compatibility/generic/services.ts';
import type { GrpcConfig } from '#infra/grpc/config.ts';
import {
  grpcConfigCheck,
  type WiredGrpcServer,
  wireGrpcServer,
} from '#infra/grpc/wire-grpc-server.ts';
import type { Route } from '#infra/http/route.ts';
import { wireHttpServer } from '#infra/http/wire-http-server.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import { isAnswered } from '#infra/process/socket.ts';
import { cniConfiguration } from '#plugins/podmanager/cni-configuration.ts';
import type { CniState } from '#plugins/podmanager/cni-service.ts';
import { wireCniServer } from '#plugins/podmanager/wire-cni-server.ts';
import type { PartDeps } from './agent-part.ts';
import { cniState } from './cni-state.ts';
import type { Control } from './control.ts';
import type { NodeStores } from './node-stores.ts';
import type { Scheduling } from './scheduling.ts';
import type { Southbound } from './southbound.ts';

export interface Servers {
  /** Port of the REST server. */
  readonly port: number;
  /** Port of the gRPC services of grpc2.conf; undefined: not served, or on a unix socket. */
  readonly grpcPort: number | undefined;
  /** Start before all others: a starting agent shows its state. */
  readonly first: readonly Component[];
  /** Start after all others. */
  readonly last: readonly Component[];
}

/** @param routes of all parts */
export function servers(
  deps: PartDeps,
  { gate }: NodeStores,
  { linux }: Southbound,
  { scheduler }: Scheduling,
  { plugins, controller, clients }: Control,
  routes: readonly Route[],
): Servers {
  const { settings, status, clock, loggers } = deps;
  const { grpc, grpc2 } = settings;
  const { pods, ipam, ipv4net } = plugins;
  const http = wireHttpServer(settings.http, routes, clock, loggers);
  const state = cniState({ status, gate, scheduler, ipam, net: ipv4net, host: linux.port });
  const cni = wireCniServer({ config: grpc, loop: controller, pods, state, clock, loggers });
  const generic = grpc2 && genericServer(deps, grpc2, { scheduler, clients });
  return {
    get port() {
      return http.port;
    },
    get grpcPort() {
      return generic?.port;
    },
    first: [grpcConfigCheck(grpc, grpc2), http.component, ...runtimeConfiguration(deps, state)],
    last: [cni, ...(generic ? [generic.component] : [])],
  };
}

/** None where something else configures the container runtime. */
function runtimeConfiguration(
  { settings, status, clock, loggers }: PartDeps,
  state: CniState,
): Component[] {
  const source = settings.env['CNI_CONFIG_SOURCE'];
  const target = settings.env['CNI_CONFIG_TARGET'];
  if (!source || !target) return [];
  const vppSocket = settings.govpp['binapi-socket-path'];
  return [
    cniConfiguration({
      source,
      target,
      isReady: () => state.readiness().ready,
      isVppRunning: () => isAnswered(vppSocket),
      status,
      clock,
      log: loggers.get('cni'),
    }),
  ];
}

/** The server on port 9111: each component that has services for it adds them here. */
function genericServer(
  { clock, loggers }: PartDeps,
  config: GrpcConfig,
  { scheduler, clients }: Pick<Scheduling, 'scheduler'> & Pick<Control, 'clients'>,
): WiredGrpcServer {
  const log = loggers.get('grpc2');
  return wireGrpcServer({
    config,
    services: [
      ...(clients?.services ?? []),
      ...genericServices({ scheduler, sink: clients?.writer, clock, log }),
    ],
    clock,
    log,
  });
}
