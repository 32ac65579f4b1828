import { type Static, Type } from 'typebox';

/** `http.conf`. */
export const httpSchema = Type.Object({
  endpoint: Type.String({
    default: '0.0.0.0:9999',
    description: 'Address and port of the REST server.',
  }),
  disabled: Type.Boolean({ default: false, description: 'Serve no REST at all.' }),
  'local-socket': Type.String({
    default: '/var/run/contiv/agent.sock',
    description: 'Unix socket that serves all routes, those that change something included.',
  }),
  'client-basic-auth': Type.Array(Type.String(), {
    default: [],
    description: 'List of user:password; every request on the endpoint then has to carry one.',
  }),
  'open-mutating-routes': Type.Boolean({
    default: false,
    description: 'Serve routes that change something on the endpoint too; needs credentials.',
  }),
  'server-cert-file': Type.String({ default: '', description: 'Certificate: serve HTTPS.' }),
  'server-key-file': Type.String({ default: '', description: 'Key of the certificate.' }),
});
export type HttpConfig = Static<typeof httpSchema>;
