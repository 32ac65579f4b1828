/** Label of the external configuration of gRPC clients: in events, and as in the original. */
export const GRPC_SOURCE = 'contiv-grpc';
