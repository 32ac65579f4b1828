/**
 * The wanted records of contiv-ksr in a cluster of 5,000 nodes and 150,000 pods: memory and processor time
 * after the lists of all kinds were taken in pages, as from an API server. The reference of the same run is
 * a process that keeps the objects as texts in a map.
 */
import { silentLogger } from '#infra/log/log.ts';
import { createReflector } from '#ksr/records/reflector.ts';
import { REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import { type LargeKind, largeCluster, NODES, PODS } from './lib/ksr/large-cluster.ts';
import { type Print, runInSubprocess } from './lib/subprocess.ts';

export const NAME = 'ksr: 5,000 nodes and 150,000 pods';

const PAGE = 500;
const MIB = 2 ** 20;
const mib = (bytes: number) => `${Math.round(bytes / MIB)} MiB`;

export async function run(print: Print): Promise<void> {
  print(`${NODES} nodes, ${PODS} pods:`);
  for (const step of ['records', 'texts']) await runInSubprocess(import.meta.filename, step, print);
}

/** Pages of a list, parsed from the text in which the server sends them. */
function* pages({ count, object }: LargeKind): Generator<unknown[]> {
  for (let from = 0; from < count; from += PAGE) {
    const length = Math.min(PAGE, count - from);
    yield Array.from({ length }, (_, at) => JSON.parse(JSON.stringify(object(from + at))));
  }
}

function records(): object {
  const deps = { prefix: REFLECTOR_PREFIX, readers: 'mixed', log: silentLogger } as const;
  const reflector = createReflector(deps);
  const kinds = new Map(largeCluster.map((kind) => [kind.path, kind]));
  let cpuMs = 0;
  for (const { kind, handlers } of reflector.watches) {
    handlers.listing();
    const listed = kinds.get(kind.path);
    for (const page of listed ? pages(listed) : []) {
      const start = process.cpuUsage();
      handlers.changed(page);
      const { user, system } = process.cpuUsage(start);
      cpuMs += (user + system) / 1000;
    }
    handlers.listed();
  }
  const count = reflector.records.reduce((sum, { table }) => sum + table.size, 0);
  report(`contiv-ksr, ${count} records, ${(cpuMs / 1000).toFixed(1)} s of CPU`);
  return reflector;
}

function texts(): object {
  const kept = new Map<string, string>();
  for (const { path, count, object } of largeCluster)
    for (let at = 0; at < count; at++) kept.set(`${path}/${at}`, JSON.stringify(object(at)));
  report(`reference: ${kept.size} objects as texts in a map`);
  return kept;
}

function report(title: string): void {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  const peak = process.resourceUsage().maxRSS * 1024;
  console.log(
    `${title}: ${mib(heapUsed)} of heap and ${mib(external)} beside it, ${mib(rss)} resident, ${mib(peak)} at most`,
  );
}

const steps: Readonly<Record<string, () => object>> = { records, texts };
const step = steps[process.argv[2] ?? ''];
// The result is what the memory is measured of: it must live until the report.
if (import.meta.main && step !== undefined) step();
