import { Gauge, type Registry } from 'prom-client';
import type { RecordCounters } from './records/counters.ts';
import type { RecordKind } from './records/reflector.ts';

const helps: readonly (readonly [name: string, counter: keyof RecordCounters, help: string])[] = [
  ['adds', 'adds', 'Records added to the datastore.'],
  ['deletes', 'deletes', 'Records deleted from the datastore.'],
  ['updates', 'updates', 'Records changed in the datastore.'],
  ['addErrors', 'addErrors', 'Failed attempts to add a record.'],
  ['deleteErrors', 'deleteErrors', 'Failed attempts to delete a record.'],
  ['updateErrors', 'updateErrors', 'Failed attempts to change a record.'],
  ['resyncs', 'resyncs', 'Comparisons of all records with the datastore.'],
  ['resyncErrors', 'resyncErrors', 'Failed comparisons of all records with the datastore.'],
  ['argErrors', 'argErrors', 'Objects that cannot be reflected, each time that they come.'],
];

/** The gauges of the original, under its names; it serves them on `/stats`. */
export function registerStatistics(
  registry: Registry,
  label: string,
  kinds: readonly RecordKind[],
): void {
  for (const [name, counter, help] of helps)
    new Gauge({
      name,
      help,
      labelNames: ['node', 'reflectorType'],
      registers: [registry],
      collect() {
        for (const { name: reflectorType, counters } of kinds)
          this.set({ node: label, reflectorType }, counters[counter]);
      },
    });
}
