import { type Static, Type } from 'typebox';
import { Duration, durationMs } from '#infra/config/duration.ts';
import type { EtcdOptions, EtcdTlsOptions } from './etcd/options.ts';

const SECOND = 1_000_000_000;

/** `etcd.conf`. Without the file the agent runs on its embedded store. */
export const etcdSchema = Type.Object({
  endpoints: Type.Array(Type.String(), {
    default: [],
    description:
      'Addresses; default: variable ETCD_ENDPOINTS, then ETCDV3_ENDPOINTS, then 127.0.0.1:2379.',
  }),
  'dial-timeout': Duration({
    default: SECOND,
    description: 'Accepted for old files, without effect: operation-timeout includes connecting.',
  }),
  'operation-timeout': Duration({
    leastMs: 100,
    default: 3 * SECOND,
    positive: true,
    description: 'Time limit of one request.',
  }),
  'insecure-transport': Type.Boolean({ default: false, description: 'Do not use TLS.' }),
  'insecure-skip-tls-verify': Type.Boolean({
    default: false,
    description: 'Accept any certificate of the server.',
  }),
  'reconnect-interval': Duration({
    leastMs: 10,
    default: 2 * SECOND,
    positive: true,
    description: 'Longest pause between two attempts to reconnect a watch.',
  }),
  'cert-file': Type.String({ default: '', description: 'File with the client certificate.' }),
  'key-file': Type.String({
    default: '',
    description: 'File with the key of the client certificate.',
  }),
  'ca-file': Type.String({
    default: '',
    description: 'File with the certificate of the authority that signed the server certificate.',
  }),
});
export type EtcdConfig = Static<typeof etcdSchema>;

const lockTimeout = Duration({
  default: 2 * SECOND,
  description: 'How long to wait while another process has the database open.',
});

/** `bolt.conf`: the local database (a level database; the name is that of the original). */
export const boltSchema = Type.Object({
  'db-path': Type.String({
    default: '/var/bolt/agent.level',
    description: 'Folder of the local database, with attachments, addresses and the node ID.',
  }),
  'file-mode': Type.Integer({
    minimum: 0,
    maximum: 0o777,
    default: 0o660,
    description:
      'Access to the database, as a decimal number as in the original: 432 is 0660. Who may read may also list its folder.',
  }),
  'lock-timeout': lockTimeout,
});
export type BoltConfig = Static<typeof boltSchema>;

/** `mirror.conf`: the copy of etcd on this node, for a start while etcd is unavailable. */
export const mirrorSchema = Type.Object({
  'db-path': Type.String({
    default: '',
    description: 'Folder of the mirror; empty: the folder of the local database plus `.mirror`.',
  }),
  'lock-timeout': lockTimeout,
});
export type MirrorConfig = Static<typeof mirrorSchema>;

/** Options of the etcd store; TLS only with a certificate file or `insecure-skip-tls-verify`. */
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
