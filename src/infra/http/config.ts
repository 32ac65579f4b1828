import { type Static, Type } from 'typebox';
import { Duration } from '../config/duration.ts';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Whether the text is a port number; with 0 the system selects a port. */
export function isPort(text: string): boolean {
  return /^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535;
}

/** Parses `address:port`, `:port` and `[address]:port`; undefined for any other text. */
export function parseEndpoint(text: string): Endpoint | undefined {
  const [, bracketed, plain, port = ''] = /^(?:\[([^[\]]+)\]|([^[\]:]*)):([^:]*)$/.exec(text) ?? [];
  if (!isPort(port)) return undefined;
  return { host: bracketed || plain || '0.0.0.0', port: Number(port) };
}

/** `http.conf`. */
export const httpSchema = Type.Object({
  endpoint: Type.Refine(
    Type.String({
      default: '0.0.0.0:9999',
      description: 'Address and port of the REST server.',
    }),
    (text) => parseEndpoint(text) !== undefined,
    () => 'has to be address:port',
  ),
  disabled: Type.Boolean({ default: false, description: 'Do not serve the REST API.' }),
  'cluster-name': Type.String({
    default: '',
    description: 'Name of the cluster on the page; agents of a cluster have the same.',
  }),
  'local-socket': Type.String({
    default: '/var/run/contiv/agent.sock',
    description: 'Path of the unix socket that serves all routes, including mutating ones.',
  }),
  'client-basic-auth': Type.Array(
    Type.Refine(
      Type.String(),
      (text) => /^[^:]+:./.test(text),
      () => 'has to be user:password',
    ),
    {
      default: [],
      isSecret: true,
      description: 'List of user:password; if set, every request on the endpoint requires one.',
    },
  ),
  'open-mutating-routes': Type.Boolean({
    default: false,
    description:
      'Serve mutating routes on the endpoint, too; requires client-basic-auth, enable-token-auth or client-cert-files.',
  }),
  'server-cert-file': Type.String({
    default: '',
    description: 'File with the server certificate; if set, the endpoint serves HTTPS.',
  }),
  'server-key-file': Type.String({
    default: '',
    description: 'File with the key of the certificate.',
  }),
  'client-cert-files': Type.Array(Type.String(), {
    default: [],
    description:
      'Files with certificates of authorities; if set, every request except probes requires a client certificate that one of them has signed.',
  }),
  'enable-token-auth': Type.Boolean({
    default: false,
    description:
      'Every request on the endpoint requires the token of a login; requires users and sign-key.',
  }),
  users: Type.Array(
    Type.Object({
      name: Type.String({ minLength: 1, description: 'Name for the login.' }),
      password: Type.String({ default: '', description: 'Password, or its bcrypt hash.' }),
      password_hash: Type.String({
        default: '',
        description: 'The bcrypt hash, in files of earlier agents.',
      }),
      permissions: Type.Array(Type.String(), {
        default: [],
        description: 'Permission groups of the user, see rest.md.',
      }),
    }),
    { default: [], description: 'Users that can log in; requires enable-token-auth.' },
  ),
  'token-expiration': Duration({
    leastMs: 1000,
    default: 3_600_000_000_000,
    description: 'How long a token is valid; 0 means 1h.',
  }),
  'sign-key': Type.String({
    default: '',
    description: 'Key that signs the tokens, at least 32 bytes.',
  }),
  'token-signature': Type.String({
    default: '',
    description: 'sign-key in files of earlier agents.',
  }),
  'rate-limiter': Type.Object(
    {
      limit: Type.Number({
        minimum: 0,
        default: 0,
        description: 'Requests a second of one user, or of one address; 0 means no limit.',
      }),
      burst: Type.Integer({
        minimum: 1,
        default: 1,
        description: 'Requests that may come at once.',
      }),
    },
    { default: {}, description: 'Limit of requests on the endpoint; probes are exempt.' },
  ),
});
export type HttpConfig = Static<typeof httpSchema>;
