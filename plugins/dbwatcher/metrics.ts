import { Counter, Gauge, type Registry } from 'prom-client';
import type { DbStatus } from './api.ts';

/** Metrics of the watcher of the datastore. */
export class DbWatcherMetrics {
  constructor(registry: Registry, status: () => DbStatus) {
    const registers = [registry];
    new Gauge({
      name: 'contiv_dbwatcher_connected',
      help: 'Whether the datastore answers (1) or not (0).',
      registers,
      collect() {
        this.set(status().connected ? 1 : 0);
      },
    });
    new Gauge({
      name: 'contiv_dbwatcher_watching',
      help: 'Whether changes in the datastore are followed (1) or not (0).',
      registers,
      collect() {
        this.set(status().watching ? 1 : 0);
      },
    });
    new Gauge({
      name: 'contiv_dbwatcher_broken_values',
      help: 'Values in the datastore that make no sense and are skipped.',
      registers,
      collect() {
        this.set(status().broken.size);
      },
    });
    new Counter({
      name: 'contiv_dbwatcher_resyncs_total',
      help: 'Resyncs from the datastore or its mirror since the start.',
      registers,
      collect() {
        this.reset();
        this.inc(status().resyncs);
      },
    });
    new Counter({
      name: 'contiv_dbwatcher_missed_changes_total',
      help: 'Changes that the watch did not deliver, found by comparing with a snapshot.',
      registers,
      collect() {
        this.reset();
        this.inc(status().missedChanges);
      },
    });
    new Gauge({
      name: 'contiv_dbwatcher_mirror_behind',
      help: 'Whether the local mirror could not be written (1).',
      registers,
      collect() {
        this.set(status().mirrorError === undefined ? 0 : 1);
      },
    });
  }
}
