import { type Static, Type } from 'typebox';

/** `kvscheduler.conf`. */
export const kvschedulerSchema = Type.Object({
  'transaction-history-age-limit': Type.Integer({
    minimum: 0,
    default: 1440,
    description: 'Minutes after which a record is dropped.',
  }),
  'permanently-recorded-init-period': Type.Integer({
    minimum: 0,
    default: 60,
    description: 'Records of the first so many minutes are not dropped for their age.',
  }),
  'print-txn-summary': Type.Boolean({
    default: true,
    description:
      'Print each transaction with its plan and what was executed, at level debug of the logger kvscheduler.',
  }),
});
export type KvSchedulerConfig = Static<typeof kvschedulerSchema>;
