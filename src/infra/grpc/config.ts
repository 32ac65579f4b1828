import { type Static, Type } from 'typebox';
import { zeroOrAtLeast } from '../config/numbers.ts';

const networks = ['unix', 'tcp', 'tcp4', 'tcp6'] as const;

const network = (value: (typeof networks)[number], description: string) =>
  Type.Refine(
    Type.String({ default: value, description }),
    (text) => networks.some((known) => known === text),
    () => `has to be one of ${networks.join(', ')}`,
  );

/** A request of the container runtime has some hundred bytes, and more with the results of other plugins. */
const LEAST_MESSAGE_BYTES = 4096;

/** Keys of every gRPC server. */
const common = {
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
  'max-msg-size': zeroOrAtLeast(LEAST_MESSAGE_BYTES, {
    maximum: 64 * 1024 * 1024,
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
};

/** `grpc.conf`: the server of the CNI service. */
export const grpcSchema = Type.Object({
  endpoint: Type.String({
    default: '/var/run/contiv/cni.sock',
    description:
      'Absolute path of the unix socket that contiv-cni connects to; address:port with another network.',
  }),
  network: network(
    'unix',
    'unix, tcp, tcp4 or tcp6. An address outside of the loopback interface requires ca-files.',
  ),
  ...common,
});
export type GrpcConfig = Static<typeof grpcSchema>;

/** `grpc2.conf`: the server of the services for external configuration. Without the file there is none. */
export const grpc2Schema = Type.Object({
  endpoint: Type.String({
    default: '127.0.0.1:9111',
    description:
      'address:port, or the absolute path of a socket with network: unix. Without ca-files an address outside of the loopback interface is replaced by 127.0.0.1.',
  }),
  network: network('tcp', 'unix, tcp, tcp4 or tcp6.'),
  ...common,
});
