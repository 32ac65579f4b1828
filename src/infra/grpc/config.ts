import { type Static, Type } from 'typebox';

const networks = ['unix', 'tcp', 'tcp4', 'tcp6'] as const;

/** `grpc.conf`: the server of the CNI service. */
export const grpcSchema = Type.Object({
  endpoint: Type.String({
    default: '/var/run/contiv/cni.sock',
    description:
      'Absolute path of the unix socket that contiv-cni connects to; address:port with another network.',
  }),
  network: Type.Refine(
    Type.String({
      default: 'unix',
      description:
        'unix, tcp, tcp4 or tcp6. An address outside of the loopback interface requires ca-files.',
    }),
    (network) => networks.some((known) => known === network),
    () => `has to be one of ${networks.join(', ')}`,
  ),
  permission: Type.Refine(
    Type.Integer({
      minimum: 0,
      maximum: 7777,
      default: 700,
      description: 'File mode of the socket, as octal digits.',
    }),
    (digits) => /^[0-7]{1,4}$/.test(String(digits)),
    () => 'has to be the digits of an octal number of up to 7777',
  ),
  'force-socket-removal': Type.Boolean({
    default: true,
    description: 'Replace an existing stale socket.',
  }),
  'max-msg-size': Type.Integer({
    minimum: 0,
    maximum: 64 * 1024 * 1024,
    default: 0,
    description: 'Largest request in bytes; 0 means 4 MiB.',
  }),
  'max-concurrent-streams': Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 0,
    description: 'Largest number of calls at once on one connection; 0 means 100.',
  }),
  'insecure-transport': Type.Boolean({
    default: false,
    description: 'Do not use TLS; excludes cert-file, key-file and ca-files.',
  }),
  'cert-file': Type.String({
    default: '',
    description: 'File with the server certificate; if set, every client has to use TLS.',
  }),
  'key-file': Type.String({
    default: '',
    description: 'File with the key of the certificate.',
  }),
  'ca-files': Type.Array(Type.String(), {
    default: [],
    description:
      'Files with certificates of authorities; if set, every client needs a certificate that one of them has signed.',
  }),
});
export type GrpcConfig = Static<typeof grpcSchema>;
