import { type Static, Type } from 'typebox';
import { Duration, durationMs } from '#infra/config/duration.ts';
import type { EtcdOptions, EtcdTlsOptions } from './etcd/options.ts';

const SECOND = 1_000_000_000;

/** `etcd.conf`. Without the file there is no etcd: the agent runs on its embedded store. */
export const etcdSchema = Type.Object({
  endpoints: Type.Array(Type.String(), {
    default: [],
    description:
      'Addresses; default: variable ETCD_ENDPOINTS, then ETCDV3_ENDPOINTS, then 127.0.0.1:2379.',
  }),
  'dial-timeout': Duration({
    default: SECOND,
    description: 'Taken for old files only: operation-timeout covers connecting too.',
  }),
  'operation-timeout': Duration({
    default: 3 * SECOND,
    positive: true,
    description: 'Limit of one request.',
  }),
  'insecure-transport': Type.Boolean({ default: false, description: 'Never use TLS.' }),
  'insecure-skip-tls-verify': Type.Boolean({
    default: false,
    description: 'Take any certificate of the server.',
  }),
  'reconnect-interval': Duration({
    default: 2 * SECOND,
    description: 'Longest pause between two attempts to follow changes again.',
  }),
  'cert-file': Type.String({ default: '', description: 'Certificate of the client.' }),
  'key-file': Type.String({ default: '', description: 'Key of the certificate.' }),
  'ca-file': Type.String({ default: '', description: 'Authority that signed the server.' }),
});
export type EtcdConfig = Static<typeof etcdSchema>;

const lockTimeout = Duration({
  default: 2 * SECOND,
  description: 'How long to wait for another agent that still has the database open.',
});

/** `bolt.conf`: the local database (a level database today; the name is the original's). */
export const boltSchema = Type.Object({
  'db-path': Type.String({
    default: '/var/bolt/agent.level',
    description: 'Folder of the local database: attachments, addresses, ID of the node.',
  }),
  'lock-timeout': lockTimeout,
});
export type BoltConfig = Static<typeof boltSchema>;

/** `mirror.conf`: the copy of etcd on this node, for a start while etcd is out of reach. */
export const mirrorSchema = Type.Object({
  'db-path': Type.String({
    default: '',
    description: 'Folder of the copy; empty: that of the local database, with `.mirror` behind it.',
  }),
  'lock-timeout': lockTimeout,
});
export type MirrorConfig = Static<typeof mirrorSchema>;

/** What the store needs: TLS only where a file or `insecure-skip-tls-verify` asks for it. */
export function etcdOptions(
  config: EtcdConfig,
  env: Readonly<Record<string, string | undefined>>,
): EtcdOptions {
  const tls: EtcdTlsOptions = {
    ...(config['ca-file'] && { caFile: config['ca-file'] }),
    ...(config['cert-file'] && { certFile: config['cert-file'] }),
    ...(config['key-file'] && { keyFile: config['key-file'] }),
    ...(config['insecure-skip-tls-verify'] && { insecureSkipVerify: true }),
  };
  const isSecure = !config['insecure-transport'] && Object.keys(tls).length > 0;
  return {
    endpoints: endpointsOf(config, env),
    operationTimeoutMs: durationMs(config['operation-timeout']),
    reconnectIntervalMs: durationMs(config['reconnect-interval']),
    ...(isSecure && { tls }),
  };
}

/** In the order of precedence: file, two variables, loopback. */
function endpointsOf(
  config: EtcdConfig,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const listed = (env['ETCD_ENDPOINTS'] || env['ETCDV3_ENDPOINTS'] || '127.0.0.1:2379').split(',');
  const endpoints = config.endpoints.length > 0 ? config.endpoints : listed;
  return endpoints.map((endpoint) => endpoint.trim()).filter((endpoint) => endpoint !== '');
}
