import { Counter, Gauge, type Registry } from 'prom-client';
import { stateNumbers } from './document.ts';
import type { StatusCheck } from './status.ts';

/** Metrics of the status, as it was reported or read last. */
export function registerStatusMetrics(
  registry: Registry,
  status: StatusCheck,
  publicationFailures: () => number,
): void {
  const registers = [registry];
  new Gauge({
    name: 'contiv_agent_state',
    help: 'State of the agent: 0 starting, 1 OK, 2 error of a component that is fatal.',
    registers,
    collect() {
      this.set(stateNumbers[status.overall.state]);
    },
  });
  new Gauge({
    name: 'contiv_component_state',
    help: 'State of a component: 0 starting, 1 OK, 2 error; and what its error fails (liveness, state, readiness, none).',
    labelNames: ['component', 'affects'],
    registers,
    collect() {
      for (const { name, affects, state } of status.components)
        this.set({ component: name, affects }, stateNumbers[state]);
    },
  });
  new Gauge({
    name: 'contiv_component_last_change_timestamp_seconds',
    help: 'Unix time of the last change of the state of a component.',
    labelNames: ['component'],
    registers,
    collect() {
      for (const { name, lastChange } of status.components)
        this.set({ component: name }, lastChange);
    },
  });
  new Counter({
    name: 'contiv_status_publication_failures_total',
    help: 'Writes of the status to etcd that have failed.',
    registers,
    collect() {
      this.reset();
      this.inc(publicationFailures());
    },
  });
}
