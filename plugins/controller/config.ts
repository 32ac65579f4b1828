import { type Static, Type } from 'typebox';
import { Duration } from '#infra/config/duration.ts';

const SECOND = 1_000_000_000;

/** `controller.conf`. Durations are nanoseconds, as in the Go agent, or text such as `5s`. */
export const controllerSchema = Type.Object({
  enableRetry: Type.Boolean({ default: true, description: 'Retry failed operations.' }),
  delayRetry: Duration({ default: SECOND, description: 'Delay before a retry.' }),
  maxRetryAttempts: Type.Integer({
    minimum: 0,
    default: 3,
    description: 'Maximum number of retries; 0 means unlimited.',
  }),
  enableExpBackoffRetry: Type.Boolean({
    default: true,
    description: 'Double the delay with each retry.',
  }),
  delayLocalResync: Duration({
    default: 5 * SECOND,
    description: 'At startup, how long to wait for etcd before the local mirror is used.',
  }),
  startupResyncDeadline: Duration({
    leastMs: 1000,
    default: 30 * SECOND,
    positive: true,
    description:
      'Deadline of the first resync; if it is missed, the agent is restarted. Suspended while the database is read for it.',
  }),
  enablePeriodicHealing: Type.Boolean({
    default: false,
    description: 'Run a healing resync periodically.',
  }),
  periodicHealingInterval: Duration({
    leastMs: 1000,
    default: 30 * SECOND,
    positive: true,
    description: 'Interval of periodic healing.',
  }),
  delayAfterErrorHealing: Duration({
    default: 5 * SECOND,
    description: 'Delay of the healing resync after a failed event.',
  }),
  remoteDBProbingInterval: Duration({
    leastMs: 100,
    default: 3 * SECOND,
    positive: true,
    description: 'Interval of the probes of the etcd connection.',
  }),
  remoteDBCompareInterval: Duration({
    leastMs: 1000,
    default: 300 * SECOND,
    positive: true,
    description:
      'Interval of the comparison of 2,000 keys of the last known state with etcd, randomized by 25 %.',
  }),
  recordEventHistory: Type.Boolean({
    default: true,
    description: 'Keep records of processed events.',
  }),
  eventHistoryAgeLimit: Type.Integer({
    minimum: 0,
    default: 1440,
    description: 'Age in minutes at which a record is dropped.',
  }),
  permanentlyRecordedInitPeriod: Type.Integer({
    minimum: 0,
    default: 60,
    description: 'Initial period in minutes whose records are kept permanently.',
  }),
  eventHistorySizeLimit: Type.Integer({
    minimum: 1,
    maximum: 4096,
    default: 64,
    description:
      'Maximum size of the records in MiB; beyond it the oldest records are dropped, regardless of their age.',
  }),
  enableVerification: Type.Boolean({
    default: false,
    description: 'After each event, recalculate everything and log the differences (slow).',
  }),
  'record-run': Type.String({
    default: '',
    description:
      'Folder in which events are recorded for `contiv-agent replay`; empty: no recording.',
  }),
});
export type ControllerConfig = Static<typeof controllerSchema>;
