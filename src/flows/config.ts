import { type Static, Type } from 'typebox';

/** `flows.conf`. */
export const flowsSchema = Type.Object({
  disableFlows: Type.Boolean({
    default: false,
    description:
      'No program that reports connections is loaded, and those of an earlier agent are removed. Flows need `socketServices` of service.conf, which names the folder /sys/fs of the host; services at sockets may be disabled.',
  }),
  flowRecords: Type.Integer({
    minimum: 100,
    maximum: 1_000_000,
    default: 50_000,
    description: 'Records in memory; about 0.9 KiB each. The oldest go first.',
  }),
  shortenOutsideAddresses: Type.Boolean({
    default: false,
    description:
      'Of addresses outside the cluster only the prefix of 24 bits is recorded, of those of IPv6 64 bits.',
  }),
});
export type FlowsConfig = Static<typeof flowsSchema>;
