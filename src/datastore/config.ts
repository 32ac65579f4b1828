import { type Static, Type } from 'typebox';
import { Duration } from '#infra/config/duration.ts';

const SECOND = 1_000_000_000;

/** `etcd.conf`. Without the file there is no etcd: the agent runs on its embedded store. */
export const etcdSchema = Type.Object({
  endpoints: Type.Array(Type.String(), {
    default: [],
    description:
      'Addresses; default: variable ETCD_ENDPOINTS, then ETCDV3_ENDPOINTS, then 127.0.0.1:2379.',
  }),
  'dial-timeout': Duration({ default: SECOND, description: 'Limit of a connection attempt.' }),
  'operation-timeout': Duration({ default: 3 * SECOND, description: 'Limit of one request.' }),
  'insecure-transport': Type.Boolean({ default: false, description: 'Never use TLS.' }),
  'cert-file': Type.String({ default: '', description: 'Certificate of the client.' }),
  'key-file': Type.String({ default: '', description: 'Key of the certificate.' }),
  'ca-file': Type.String({ default: '', description: 'Authority that signed the server.' }),
});
export type EtcdConfig = Static<typeof etcdSchema>;

/** `bolt.conf`: the local database (a level database today; the name is the original's). */
export const boltSchema = Type.Object({
  'db-path': Type.String({
    default: '/var/bolt/agent.level',
    description: 'Folder of the local database: mirror of etcd, attachments, addresses.',
  }),
});
export type BoltConfig = Static<typeof boltSchema>;

/** Endpoints in the order of precedence: file, two variables, loopback. Without a scheme: http. */
export function etcdEndpoints(
  config: EtcdConfig,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const listed = (env['ETCD_ENDPOINTS'] || env['ETCDV3_ENDPOINTS'] || '127.0.0.1:2379').split(',');
  const endpoints = config.endpoints.length > 0 ? config.endpoints : listed;
  const tls = !config['insecure-transport'] && !!(config['ca-file'] || config['cert-file']);
  return endpoints
    .map((endpoint) => endpoint.trim())
    .filter((endpoint) => endpoint !== '')
    .map((endpoint) =>
      endpoint.includes('://') ? endpoint : `http${tls ? 's' : ''}://${endpoint}`,
    );
}
