import { type Static, Type } from 'typebox';
import { Duration } from '#infra/config/duration.ts';

const SECOND = 1_000_000_000;

/** `controller.conf`. Times are nanoseconds, as the Go agent reads them, or text such as `5s`. */
export const controllerSchema = Type.Object({
  enableRetry: Type.Boolean({ default: true, description: 'Retry operations that failed.' }),
  delayRetry: Duration({ default: SECOND, description: 'How long to wait before a retry.' }),
  maxRetryAttempts: Type.Integer({
    minimum: 0,
    default: 3,
    description: 'How often to retry; 0 means without limit.',
  }),
  enableExpBackoffRetry: Type.Boolean({
    default: true,
    description: 'Each retry waits twice as long as the one before.',
  }),
  delayLocalResync: Duration({
    default: 5 * SECOND,
    description: 'How long to wait for etcd before the local mirror is used at start.',
  }),
  startupResyncDeadline: Duration({
    default: 30 * SECOND,
    positive: true,
    description: 'The first resync must have run by then, or the agent is restarted.',
  }),
  enablePeriodicHealing: Type.Boolean({ default: false, description: 'Resync now and then.' }),
  periodicHealingInterval: Duration({
    default: 30 * SECOND,
    positive: true,
    description: 'How often periodic healing runs.',
  }),
  delayAfterErrorHealing: Duration({
    default: 5 * SECOND,
    description: 'How long after a failed event the healing resync runs.',
  }),
  remoteDBProbingInterval: Duration({
    default: 3 * SECOND,
    positive: true,
    description: 'How often the connection to etcd is probed.',
  }),
  remoteDBCompareInterval: Duration({
    default: 300 * SECOND,
    positive: true,
    description: 'How often what is known is compared with etcd, give or take a quarter.',
  }),
  recordEventHistory: Type.Boolean({ default: true, description: 'Keep records of events.' }),
  eventHistoryAgeLimit: Type.Integer({
    minimum: 0,
    default: 1440,
    description: 'Minutes after which a record is dropped.',
  }),
  permanentlyRecordedInitPeriod: Type.Integer({
    minimum: 0,
    default: 60,
    description: 'Records of the first so many minutes are kept for good.',
  }),
  eventHistorySizeLimit: Type.Integer({
    minimum: 1,
    maximum: 4096,
    default: 64,
    description: 'MiB that records may take; beyond that the oldest go, whatever their age.',
  }),
  enableVerification: Type.Boolean({
    default: false,
    description: 'After each event recalculate everything and log what differs (slow).',
  }),
  'record-run': Type.String({
    default: '',
    description:
      'Folder in which the run is recorded, for `contiv-agent replay`; empty: it is not.',
  }),
});
export type ControllerConfig = Static<typeof controllerSchema>;
