/** Wiring of the gRPC server of `grpc2.conf`, with the services of several components. */
import type { Clock } from '../clock/clock.ts';
import { defineError } from '../errors/errors.ts';
import type { Logger } from '../log/log.ts';
import type { Component } from '../process/lifecycle.ts';
import { addressText } from './bind.ts';
import type { GrpcConfig } from './config.ts';
import type { GrpcService } from './connection-server.ts';
import { grpcAddress, grpcLimits, grpcTls, guardedGrpcAddress } from './endpoint.ts';
import { type GrpcServer, serveGrpc } from './server.ts';

/** How long calls may continue after the stop of the agent began. */
const GRACE_MS = 2_000;

export const GrpcListenError = defineError({
  name: 'GrpcListenError',
  code: 'CV_GRPC_LISTEN',
  remedy:
    'Check which process uses the port or socket, perhaps a second agent; else change endpoint in grpc2.conf.',
});

export interface GrpcWiringDeps {
  readonly config: GrpcConfig;
  /** All services of the server; each component that has some adds them here. */
  readonly services: readonly GrpcService[];
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Checks the configurations before the agent changes anything: the servers are among its last components.
 * @param grpc2 undefined: there is no such file
 */
export function grpcConfigCheck(grpc: GrpcConfig, grpc2: GrpcConfig | undefined): Component {
  return {
    name: 'grpc-config',
    init: () => {
      grpcAddress(grpc);
      grpcTls(grpc);
      if (!grpc2) return;
      guardedGrpcAddress(grpc2);
      grpcTls(grpc2);
    },
  };
}

export interface WiredGrpcServer {
  /** Port of the endpoint; undefined on a unix socket, and before the start. */
  readonly port: number | undefined;
  readonly component: Component;
}

export function wireGrpcServer({ config, services, clock, log }: GrpcWiringDeps): WiredGrpcServer {
  let serving: Promise<GrpcServer> | undefined;
  let port: number | undefined;
  return {
    get port() {
      return port;
    },
    component: {
      name: 'grpc2',
      afterInit: async () => {
        const { address, isReplaced } = guardedGrpcAddress(config);
        const tls = grpcTls(config);
        serving = serveGrpc({
          services,
          address,
          subject: { name: 'endpoint of grpc2.conf', error: GrpcListenError },
          tls,
          limits: grpcLimits(config),
          clock,
        });
        ({ port } = await serving);
        const endpoint = addressText(address);
        if (isReplaced)
          log.warn(
            { configured: config.endpoint, endpoint },
            'gRPC services are served to this machine only: others need cert-file, key-file and ca-files in grpc2.conf',
          );
        else if ('port' in address && !tls?.requestCert)
          log.warn({ endpoint }, 'gRPC services are open to every process of this machine');
        log.info({ endpoint }, 'gRPC services are listening');
      },
      close: async () => (await serving?.catch(() => undefined))?.close(GRACE_MS),
    },
  };
}
