import { type LinkReport, type LinuxHost, NamespaceNotFoundError } from '#linux/api.ts';
import type { LinuxInterface } from '#models/linux/interface.ts';
import type { LinuxInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { Southbound } from './southbound.ts';

export interface LinuxLink {
  readonly value: LinuxInterface;
  readonly report: LinkReport;
}

/** Interfaces of Linux as their descriptor retrieves them, with what the kernel reports of their links. */
export async function readLinuxLinks(
  southbound: Southbound,
  host: LinuxHost,
): Promise<readonly LinuxLink[]> {
  const found = await southbound.read<LinuxInterface, LinuxInterfaceMetadata>('linux-interface');
  const namespaces = Map.groupBy(found, ({ metadata }) => metadata.namespace);
  const links = await Promise.all(
    [...namespaces].map(async ([namespace, interfaces]) => {
      const reports = await reportsIn(host, namespace);
      return interfaces.flatMap(({ value, metadata }) => {
        const report = reports.get(metadata.hostIfName);
        return report ? [{ value, report }] : [];
      });
    }),
  );
  return links.flat();
}

/** A namespace that was deleted since has no links. */
async function reportsIn(
  host: LinuxHost,
  namespace: string | undefined,
): Promise<ReadonlyMap<string, LinkReport>> {
  try {
    const reports = await host.reportLinks(namespace);
    return new Map(reports.map((report) => [report.name, report]));
  } catch (thrown) {
    if (thrown instanceof NamespaceNotFoundError) return new Map();
    throw thrown;
  }
}
