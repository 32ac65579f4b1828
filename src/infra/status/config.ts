import { type Static, Type } from 'typebox';
import { Duration } from '../config/duration.ts';

const SECOND = 1_000_000_000;

/** `status-check.conf`. */
export const statusCheckSchema = Type.Object({
  'publish-interval': Duration({
    leastMs: 1000,
    default: 10 * SECOND,
    description:
      'Interval in which the status of the agent is written to etcd, besides its changes; 0: it is not written.',
  }),
});
export type StatusCheckConfig = Static<typeof statusCheckSchema>;
