import { type Static, Type } from 'typebox';

/** `grpc.conf`: the server of the CNI service. */
export const grpcSchema = Type.Object({
  endpoint: Type.String({
    default: '/var/run/contiv/cni.sock',
    description: 'Path of the unix socket that contiv-cni connects to.',
  }),
  network: Type.Refine(
    Type.String({ default: 'unix', description: 'Only unix: CNI is not served over TCP.' }),
    (network) => network === 'unix',
    () => 'has to be unix: CNI is served on a unix socket only',
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
});
export type GrpcConfig = Static<typeof grpcSchema>;
