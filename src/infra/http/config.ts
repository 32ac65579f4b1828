import { type Static, Type } from 'typebox';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** A number that a port can have; 0 lets the system choose. */
export function isPort(text: string): boolean {
  return /^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535;
}

/** Of `address:port`, `:port` and `[address]:port`; undefined for anything else. */
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
  disabled: Type.Boolean({ default: false, description: 'Serve no REST at all.' }),
  'local-socket': Type.String({
    default: '/var/run/contiv/agent.sock',
    description: 'Unix socket that serves all routes, those that change something included.',
  }),
  'client-basic-auth': Type.Array(
    Type.Refine(
      Type.String(),
      (text) => /^[^:]+:./.test(text),
      () => 'has to be user:password',
    ),
    {
      default: [],
      description: 'List of user:password; every request on the endpoint then has to carry one.',
    },
  ),
  'open-mutating-routes': Type.Boolean({
    default: false,
    description: 'Serve routes that change something on the endpoint too; needs credentials.',
  }),
  'server-cert-file': Type.String({ default: '', description: 'Certificate: serve HTTPS.' }),
  'server-key-file': Type.String({ default: '', description: 'Key of the certificate.' }),
});
export type HttpConfig = Static<typeof httpSchema>;
