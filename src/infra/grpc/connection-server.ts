/** gRPC over connections that were accepted elsewhere. */
import type { Duplex } from 'node:stream';
import {
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { GrpcLimits } from './endpoint.ts';
import { FilteredConnection } from './http2/filtered-connection.ts';

/** A gRPC service: its methods as grpc-js describes them, and what they do. */
export interface GrpcService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

/** Serves connections that were accepted by the caller. */
export interface ConnectionServer {
  take(connection: Duplex): void;
  /** Accepts no more calls, and resolves when the current calls have ended. */
  close(): Promise<void>;
  /** Closes the connections of the current calls. */
  abandon(): void;
}

export function grpcConnectionServer(
  services: readonly GrpcService[],
  limits?: GrpcLimits,
): ConnectionServer {
  const server = new Server(
    limits && {
      'grpc.max_receive_message_length': limits.maxMessageBytes,
      'grpc.max_concurrent_streams': limits.maxCallsPerConnection,
    },
  );
  for (const { definition, implementation } of services)
    server.addService(definition, implementation);
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  return {
    take: (connection) => injector.injectConnection(new FilteredConnection(connection)),
    close: () => new Promise((resolve) => server.tryShutdown(() => resolve())),
    abandon: () => server.forceShutdown(),
  };
}
