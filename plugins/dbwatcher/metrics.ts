import { Counter, Gauge, type Registry } from 'prom-client';
import type { DbStatus } from './api.ts';

/** Metrics of the datastore watcher. */
export class DbWatcherMetrics {
  constructor(
    registry: Registry,
    status: () => DbStatus,
    configStatusFailures: () => number = () => 0,
  ) {
    const registers = [registry];
    new Gauge({
      name: 'contiv_dbwatcher_connected',
      help: 'Whether the datastore is available (1) or not (0).',
      registers,
      collect() {
        this.set(status().connected ? 1 : 0);
      },
    });
    new Gauge({
      name: 'contiv_dbwatcher_watching',
      help: 'Whether changes in the datastore are watched (1) or not (0).',
      registers,
      collect() {
        this.set(status().watching ? 1 : 0);
      },
    });
    new Gauge({
      name: 'contiv_dbwatcher_broken_values',
      help: 'Invalid values in the datastore, which are ignored.',
      registers,
      collect() {
        this.set(status().broken.size);
      },
    });
    new Gauge({
      name: 'contiv_dbwatcher_unknown_fields',
      help: 'Values in the datastore with fields that this agent does not know, and ignores.',
      registers,
      collect() {
        this.set(status().unknownFields);
      },
    });
    new Gauge({
      name: 'contiv_dbwatcher_retained_values',
      help: 'Records that are kept for a grace period although the datastore has lost them.',
      registers,
      collect() {
        this.set(status().retained);
      },
    });
    new Gauge({
      name: 'contiv_dbwatcher_pending_changes',
      help: 'Changes in the datastore that wait in the watcher until the event loop has less to do.',
      registers,
      collect() {
        this.set(status().pendingChanges);
      },
    });
    new Counter({
      name: 'contiv_dbwatcher_resyncs_total',
      help: 'Resyncs from the datastore or from the local mirror.',
      registers,
      collect() {
        this.reset();
        this.inc(status().resyncs);
      },
    });
    new Counter({
      name: 'contiv_dbwatcher_missed_changes_total',
      help: 'Changes that the watch did not deliver, found by comparison with a snapshot.',
      registers,
      collect() {
        this.reset();
        this.inc(status().missedChanges);
      },
    });
    new Counter({
      name: 'contiv_dbwatcher_config_status_failures_total',
      help: 'Failed writes of the status of external configuration.',
      registers,
      collect() {
        this.reset();
        this.inc(configStatusFailures());
      },
    });
    new Gauge({
      name: 'contiv_dbwatcher_mirror_behind',
      help: 'Whether the local mirror could not be written (1) or is up to date (0).',
      registers,
      collect() {
        this.set(status().mirrorError === undefined ? 0 : 1);
      },
    });
  }
}
