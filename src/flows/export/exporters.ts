import type { FlowsConfig } from '../config.ts';
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
  if (ipfixCollector !== '') {
    const { hostname, port } = new URL(`udp://${ipfixCollector}`);
    const address = hostname.replaceAll(/[[\]]/g, '');
    sinks.push(new IpfixCollector({ address, port: Number(port) }, deps.clock));
  }
  return sinks.map((sink) => new FlowExporter({ ...deps, sink }));
}
