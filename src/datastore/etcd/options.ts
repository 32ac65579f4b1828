import type { ChannelOptions } from '@grpc/grpc-js';
import { defineError } from '#infra/errors/errors.ts';

export interface EtcdTlsOptions {
  /** File with the certificates of the authorities to trust, PEM; default: those of Node.js. */
  readonly caFile?: string;
  /** Own certificate and key, PEM; both or none. */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Accepts any certificate: the connection is encrypted, but the server is not authenticated. */
  readonly insecureSkipVerify?: boolean;
}

export interface EtcdOptions {
  /** `host:port` with or without `http://` or `https://`; without a port 2379; or `unix:` and
   * the path of a socket. Calls use an endpoint that answers. */
  readonly endpoints: readonly string[];
  /** Without it the connections are unencrypted, unless the endpoints start with `https://`. */
  readonly tls?: EtcdTlsOptions;
  /** Milliseconds that a call may take at one endpoint; default 3,000. */
  readonly operationTimeoutMs?: number;
  /** Milliseconds between two attempts of a watch to connect; default 2,000. */
  readonly reconnectIntervalMs?: number;
}

export const StoreConfigError = defineError({
  name: 'StoreConfigError',
  code: 'CV_STORE_CONFIG',
  rejects: 'configuration',
  remedy: 'Correct the option of the etcd configuration that the error names.',
});

export function addressesOf(options: EtcdOptions): { secure: boolean; addresses: string[] } {
  const { endpoints, tls } = options;
  if (endpoints.length === 0)
    throw new StoreConfigError('no endpoint is configured', { where: 'endpoints' });
  const urls = endpoints.map(urlOf);
  const https = urls.filter(({ scheme }) => scheme === 'https').length;
  const plain = urls.filter(({ scheme }) => scheme === 'http').length;
  if (https > 0 && https < endpoints.length)
    throw new StoreConfigError('https:// and other endpoints are mixed', { where: 'endpoints' });
  if (plain > 0 && tls)
    throw new StoreConfigError('http:// endpoints cannot be used with TLS', { where: 'endpoints' });
  return {
    secure: https > 0 || tls !== undefined,
    addresses: urls.map(({ address }) => address),
  };
}

/** Of etcd, as its own clients assume. */
const DEFAULT_PORT = 2379;
const ENDPOINT =
  /^(?:(?<scheme>https?):\/\/)?(?<host>\[[0-9a-f:.]+(?:%[^\]]+)?\]|[^:/?#@[\]\s]+)(?::(?<port>\d+))?\/?$/i;

function urlOf(endpoint: string): { scheme: string | undefined; address: string } {
  // a socket, as gRPC names it
  if (endpoint.startsWith('unix:')) return { scheme: undefined, address: endpoint };
  const { scheme, host, port = DEFAULT_PORT } = ENDPOINT.exec(endpoint)?.groups ?? {};
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new StoreConfigError(
      `"${endpoint}" is not host:port, with or without http:// or https:// before it, and no unix: socket`,
      { where: 'endpoints' },
    );
  return { scheme: scheme?.toLowerCase(), address: `${host}:${port}` };
}

/**
 * Without keepalive pings: which of them a server takes for too many depends on its version and flags
 * (etcd one in 5 s while a call is open, the grpc-proxy of 3.4 one in 5 minutes), and it closes the
 * connection then. A connection without answers is detected by the calls: see `Endpoint`.
 */
export const channelOptions: ChannelOptions = {
  // The default of 4 MiB is too small for long reads and watch backlogs of etcd.
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  // Otherwise gRPC would share a connection, also one without answers, between all stores of the process.
  'grpc.use_local_subchannel_pool': 1,
};
