/** The sum of random updates, compared with the values of a resync. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { defineEvent, EventMethod } from '#plugins/controller/api/event.ts';
import {
  DbResync,
  ExternalConfigChange,
  ExternalConfigResync,
} from '#plugins/controller/api/events.ts';
import { handler, makeController, put, remove, settle } from './controller-harness.ts';
import { Recalculate } from './test-events.ts';

type Values = Record<string, Value>;

const Own = defineEvent<{ readonly key: string; readonly value: Value | null }>({
  id: 'own',
  blocking: false,
  name: 'Own',
  method: EventMethod.Update,
});

const sources = ['db', 'first', 'second'] as const;
const key = fc.constantFrom('a', 'b', 'c', 'd');
/** A few fields, so that values of different origin overlap in part. */
const value = fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.nat({ max: 9 }), {
  minKeys: 1,
  noNullPrototype: true,
});
const change = fc.option(value, { nil: null });
const step = fc.oneof(
  fc.record({ what: fc.constant('own' as const), key, value: change }),
  fc.record({ what: fc.constant('outside' as const), at: fc.nat({ max: 2 }), key, value: change }),
  fc.record({
    what: fc.constant('snapshot' as const),
    at: fc.nat({ max: 2 }),
    values: fc.dictionary(key, value, { noNullPrototype: true }),
  }),
  fc.record({ what: fc.constantFrom('recalculate' as const, 'database' as const) }),
);

describe('configuration of many origins', () => {
  it('is the same by updates as by resyncs: handlers first, then the sources in their order [R6.5]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const own: Values = {};
        const outside: Values[] = sources.map(() => ({}));
        const bench = makeController(
          [
            handler('own', [], {
              resync: ({ txn }) => {
                for (const [name, wanted] of Object.entries(own)) put(txn, name, wanted);
              },
              update: ({ event, txn }) => {
                if (!Own.is(event)) return;
                if (event.payload.value) put(txn, event.payload.key, event.payload.value);
                else remove(txn, event.payload.key);
              },
            }),
          ],
          {
            externalSources: sources.slice(1).map((label, at) => ({
              label,
              snapshot: async () => ({ ...outside[at + 1] }),
            })),
          },
        );
        const database = () =>
          DbResync.event({ local: false, kubeState: {}, externalConfig: { ...outside[0] } });
        const set = (values: Values, name: string, wanted: Value | null) => {
          if (wanted) values[name] = wanted;
          else delete values[name];
        };
        bench.controller.push(database());
        for (const one of steps) {
          if (one.what === 'own') {
            set(own, one.key, one.value);
            bench.controller.push(Own.event({ key: one.key, value: one.value }));
          } else if (one.what === 'outside') {
            set(outside[one.at]!, one.key, one.value);
            const values = { [one.key]: one.value };
            bench.controller.push(ExternalConfigChange.event({ source: sources[one.at]!, values }));
          } else if (one.what === 'snapshot') {
            const values = { ...one.values };
            outside[one.at] = values;
            bench.controller.push(
              ExternalConfigResync.event({ source: sources[one.at]!, values: { ...values } }),
            );
          } else
            bench.controller.push(one.what === 'database' ? database() : Recalculate.event({}));
          await settle();
        }
        // The configuration of VPP after all of these transactions.
        let standing = new Map<string, Value>();
        for (const { mode, values } of bench.sink.requests) {
          if (mode !== 'update') standing = new Map();
          for (const [name, wanted] of values)
            if (wanted) standing.set(name, wanted);
            else standing.delete(name);
        }
        const wanted: Values = {};
        for (const values of [own, ...outside])
          for (const [name, over] of Object.entries(values))
            wanted[name] = { ...wanted[name], ...over };
        assert.deepEqual(Object.fromEntries([...standing].sort()), sortedKeys(wanted));
        for (const name of Object.keys(own)) assert.deepEqual(bench.desired.value(name), own[name]);
        await bench.controller.close({ cleanup: false });
      }),
      { numRuns: 60 },
    );
  });
});

function sortedKeys(values: Values): Values {
  return Object.fromEntries(Object.entries(values).sort());
}
