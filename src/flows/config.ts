import { type Static, Type } from 'typebox';
import Value from 'typebox/value';

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
  exportFile: Type.String({
    default: '',
    description:
      'Absolute path of a file, not in the root folder, to which each record is appended as a line of JSON when it has changed: the last line of an id holds. Empty: none. In a pod it has to be in a folder of the host, which the chart mounts.',
    pattern: '^((/[^/]+)+/[^/]+)?$',
  }),
  exportFileMegabytes: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 100,
    description: 'A longer file is renamed to `<exportFile>.1`, in place of the one before.',
  }),
  ipfixCollector: Type.String({
    default: '',
    description:
      'Address and UDP port of a collector of IPFIX: `192.0.2.9:4739` or `[2001:db8::9]:4739`. Empty: none.',
    pattern: '^(([0-9.]+|\\[[0-9a-fA-F:.]+\\]):[0-9]{1,5})?$',
  }),
  shortenOutsideAddresses: Type.Boolean({
    default: false,
    description:
      'Of addresses outside the cluster only the prefix of 24 bits is recorded, of those of IPv6 64 bits.',
  }),
});
export type FlowsConfig = Static<typeof flowsSchema>;

/** Values of an empty `flows.conf`. */
export const flowsDefaults: FlowsConfig = Value.Create(flowsSchema);
