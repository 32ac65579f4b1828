/** Wiring of the CNI server: the CNI service on its unix socket, or on a port. */

import type { Clock } from '#infra/clock/clock.ts';
import type { GrpcConfig } from '#infra/grpc/config.ts';
import { grpcAddress, grpcLimits, grpcTls } from '#infra/grpc/endpoint.ts';
import type { Loggers } from '#infra/log/loggers.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import { type CniServiceDeps, cniService } from './cni-service.ts';
import { type CniServer, serveCni } from './cni-socket.ts';

/** How long CNI calls may continue after the stop of the agent began. */
const GRACE_MS = 2_000;

export interface CniWiringDeps extends Omit<CniServiceDeps, 'log'> {
  readonly config: GrpcConfig;
  readonly clock: Clock;
  readonly loggers: Loggers;
}

export function wireCniServer({ config, clock, loggers, ...deps }: CniWiringDeps): Component {
  let server: Promise<CniServer> | undefined;
  return {
    name: 'cni',
    afterInit: async () => {
      const log = loggers.get('cni');
      server = serveCni({
        service: cniService({ ...deps, log }),
        ...grpcAddress(config),
        tls: grpcTls(config),
        limits: grpcLimits(config),
        clock,
        log,
      });
      await server;
    },
    close: async () => (await server?.catch(() => undefined))?.close(GRACE_MS),
  };
}
