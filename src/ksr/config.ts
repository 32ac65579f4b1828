import { type Static, Type } from 'typebox';

/** `ksr.conf`: the state reflector contiv-ksr. */
export const ksrSchema = Type.Object({
  readers: Type.Union([Type.Literal('mixed'), Type.Literal('own')], {
    default: 'mixed',
    description:
      'Agents that read the records: mixed also permits agents of Contiv/VPP, which reject records with fields that they do not know; own adds data for the agents of this project only, such as zones and hints of topology.',
  }),
  'election-ttl': Type.Integer({
    minimum: 2,
    maximum: 600,
    default: 5,
    description:
      'Seconds after which another instance leads when the leader has ended without resigning.',
  }),
});
export type KsrConfig = Static<typeof ksrSchema>;
