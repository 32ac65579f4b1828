import type { FlowsConfig } from '../config.ts';
import { collectorAddress } from './collector-address.ts';
import { FlowExporter, type FlowExporterDeps } from './flow-exporter.ts';
import type { FlowSink } from './flow-sink.ts';
import { IpfixCollector } from './ipfix-collector.ts';
import { JsonLines } from './json-lines.ts';

const MEGABYTE = 1_000_000;

/** One for each sink of flows.conf: each continues where it is. */
export function exportersOf(
  { exportFile, exportFileMegabytes, ipfixCollector }: FlowsConfig,
  deps: Omit<FlowExporterDeps, 'sink'>,
): readonly FlowExporter[] {
  const sinks: FlowSink[] = [];
  if (exportFile !== '')
    sinks.push(new JsonLines({ path: exportFile, maxBytes: exportFileMegabytes * MEGABYTE }));
  const collector = collectorAddress(ipfixCollector);
  if (collector !== undefined) sinks.push(new IpfixCollector(collector, deps.clock));
  return sinks.map((sink) => new FlowExporter({ ...deps, sink }));
}
