/** Many values in the scheduler, on a southbound that answers at once. */
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { AnyDescriptor, Dependency } from '#kvscheduler/api/descriptor.ts';
import type { RetryPolicy, Value } from '#kvscheduler/api/transaction.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import type { Dimension, Loaded } from './dimension.ts';

const update = { description: 'bench', mode: 'update', onFailure: 'best-effort' } as const;

/** Later than the end of the measurement. */
const retry: RetryPolicy = { periodMs: 3_600_000, maxAttempts: 3, exponential: true };

const EMPTY_PREFIX = 'config/nothing/';
const PROVIDERS = 'config/plain/provider/';

function descriptor(kind: string, more: Partial<AnyDescriptor> = {}): AnyDescriptor {
  const prefix = `config/${kind}/`;
  return {
    name: kind,
    keyPrefixes: [prefix],
    nbKeyPrefix: prefix,
    typeName: `bench.${kind}`,
    create: async () => undefined,
    update: async () => undefined,
    delete: async () => undefined,
    ...more,
  } as AnyDescriptor;
}

function newScheduler(): Scheduler {
  const needs = (dependency: Dependency) => ({ dependencies: () => [dependency] });
  const descriptors = [
    descriptor('plain'),
    descriptor('failing', {
      create: async () => {
        throw new Error('refused');
      },
    }),
    descriptor('waiting', needs({ label: 'missing', key: 'config/plain/missing' })),
    descriptor('choosing', needs({ label: 'any', anyOf: { prefixes: [PROVIDERS] } })),
    descriptor('hoping', needs({ label: 'any', anyOf: { prefixes: [EMPTY_PREFIX] } })),
  ];
  return createScheduler({ descriptors, clock: systemClock, log: silentLogger });
}

function many(prefix: string, count: number): [string, Value][] {
  return Array.from({ length: count }, (_, at) => [`${prefix}${at}`, { weight: 0 }]);
}

/** With a few values that the changes change. */
async function loaded(values: readonly [string, Value][]): Promise<Scheduler> {
  const scheduler = newScheduler();
  await scheduler.commit({ ...update, values: new Map([...many('config/plain/', 10), ...values]) });
  // settles what the first transaction has left
  await scheduler.commit({ ...update, retry, values: new Map(values.slice(0, 1)) });
  return scheduler;
}

function changed(scheduler: Scheduler, key: string, value: Value | null): Promise<unknown> {
  return scheduler.commit({ ...update, retry, values: new Map([[key, value]]) });
}

/** Another value than those of the dimension changes. */
function otherValue(scheduler: Scheduler): Loaded {
  return {
    changes: {
      'another value changes': {
        make: (round) => changed(scheduler, `config/plain/${round % 10}`, { weight: round + 1 }),
      },
    },
    [Symbol.asyncDispose]: () => scheduler.close(),
  };
}

const common = { sizes: [500, 2_000, 8_000, 32_000], batch: 50 };

export const schedulerDimensions: readonly Dimension[] = [
  {
    ...common,
    name: 'values',
    load: 'one transaction, and the status of all',
    async prepare(size) {
      const values = many('config/plain/many/', size);
      return async () => {
        const scheduler = await loaded(values);
        scheduler.statuses();
        return {
          changes: {
            'one value changes': {
              make: (round) =>
                changed(scheduler, `config/plain/many/${(round * 7919) % size}`, {
                  weight: round + 1,
                }),
            },
          },
          [Symbol.asyncDispose]: () => scheduler.close(),
        };
      };
    },
  },
  {
    ...common,
    name: 'failed values',
    load: 'one transaction, and the status of all',
    async prepare(size) {
      const values = new Map(many('config/failing/', size));
      return async () => {
        const scheduler = await loaded([]);
        await scheduler.commit({ ...update, retry, values });
        scheduler.statuses();
        return otherValue(scheduler);
      };
    },
  },
  {
    ...common,
    name: 'pending values',
    load: 'one transaction, and the status of all',
    async prepare(size) {
      const values = [...many('config/waiting/', size / 2), ...many('config/hoping/', size / 2)];
      return async () => {
        const scheduler = await loaded(values);
        scheduler.statuses();
        return otherValue(scheduler);
      };
    },
  },
  {
    ...common,
    name: 'selectors',
    load: 'as many values under one prefix, of which each of them needs any',
    async prepare(size) {
      const values = [...many(PROVIDERS, size), ...many('config/choosing/', size)];
      return async () => {
        const scheduler = await loaded(values);
        scheduler.statuses();
        return {
          changes: {
            'one of those under the prefix changes': {
              make: (round) =>
                changed(scheduler, `${PROVIDERS}${(round * 7919) % size}`, { weight: round + 1 }),
            },
            'one is deleted, or added again': {
              make: (round) => changed(scheduler, PROVIDERS, round % 2 === 0 ? {} : null),
            },
          },
          [Symbol.asyncDispose]: () => scheduler.close(),
        };
      };
    },
  },
  {
    ...common,
    sizes: [250, 1_000, 4_000, 16_000],
    name: 'history',
    load: 'as many transactions, each with one value',
    async prepare(size) {
      return async () => {
        const scheduler = await loaded([]);
        for (let at = 0; at < size; at++)
          await changed(scheduler, `config/plain/${at % 10}`, { weight: -at - 1 });
        return otherValue(scheduler);
      };
    },
  },
];
