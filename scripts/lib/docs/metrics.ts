import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Counter, Gauge, Histogram, type Metric, Registry, Summary } from 'prom-client';
import { createAgent } from '#cmd/agent/agent.ts';
import { parseFlags } from '#cmd/agent/flags.ts';
import { readSettings } from '#cmd/agent/settings.ts';
import { simulatedEnvironment } from '#demonstration/simulated-environment.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { Loggers } from '#infra/log/loggers.ts';
import { SimSocketTable } from '#simulator/linux/socket-table.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { keysInMemory } from '#vpp/wireguard/key-file.ts';
import { moduleOf } from './source.ts';
import { byKey, type Row, renderTable } from './table.ts';

export interface MetricText {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
  /** Module of the agent that registers it. */
  readonly producer: string;
  readonly registry: Registry;
}

/** Metrics that an agent registers when it is created (not started). */
function metrics(): MetricText[] {
  const found: MetricText[] = [];
  const register = Registry.prototype.registerMetric;
  Registry.prototype.registerMetric = function (this: Registry, metric) {
    found.push(textOf(metric, this));
    register.call(this, metric);
  };
  try {
    makeAgent();
  } finally {
    Registry.prototype.registerMetric = register;
  }
  return found;
}

/** Those on `/metrics`, without those of Node.js; the others are on `/stats`. */
export function metricsOf(path: '/metrics' | '/stats'): MetricText[] {
  const all = metrics();
  const main = all.find(({ name }) => PROCESS_METRIC.test(name))?.registry;
  return all.filter(
    ({ name, registry }) =>
      (registry === main) === (path === '/metrics') && !PROCESS_METRIC.test(name),
  );
}

const PROCESS_METRIC = /^(process|nodejs)_/;

function makeAgent(): void {
  const loggers = new Loggers({ 'default-level': 'fatal', loggers: [] }, undefined, {
    write: () => undefined,
  });
  const parts = { clock: systemClock, random: systemRandom, loggers };
  const flags = parseFlags(['--embedded', '--config-dir', import.meta.dirname], {});
  createAgent({
    ...parts,
    settings: readSettings(flags, {}),
    environment: {
      ...simulatedEnvironment({ local: new MemoryStore(), localDisk: undefined }, parts),
      external: new MemoryStore(),
      keyFile: keysInMemory(),
      socketTable: new SimSocketTable(systemRandom, systemClock),
    },
    build: { version: '', date: '', commit: '' },
    print: () => undefined,
  });
}

/** Fields of a metric that the types of prom-client do not show. */
interface Made {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

const types = [Counter, Gauge, Histogram, Summary];

function textOf(metric: Metric, registry: Registry): MetricText {
  const { name, help, labelNames } = metric as unknown as Made;
  return {
    name,
    help,
    labels: labelNames,
    type: types.find((type) => metric instanceof type)?.name.toLowerCase() ?? '',
    producer: registeringModule(),
    registry,
  };
}

/** A class of metrics, which others make. */
const METRIC_CLASS = 'src/infra/metrics/recent-summary.ts';

/** Module of the innermost caller in src or plugins. */
function registeringModule(): string {
  const frames = new Error('here').stack?.matchAll(/file:\/\/[^\s:]+/g) ?? [];
  for (const [url] of frames) {
    const path = relative('.', fileURLToPath(url));
    if (/^(src|plugins)\//.test(path) && path !== METRIC_CLASS) return moduleOf(path);
  }
  return '';
}

export function metricTable(path: '/metrics' | '/stats'): string {
  const rows = metricsOf(path).map(
    ({ name, type, labels, help, producer }): Row => ({
      key: `\`${name}\``,
      cells: [type, labels.map((label) => `\`${label}\``).join(', ') || '–', help, producer],
    }),
  );
  return renderTable(['metric', 'type', 'labels', 'meaning', 'from'], rows.sort(byKey), '');
}
