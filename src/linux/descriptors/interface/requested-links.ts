/** Reads the links of some values alone, while they are in place. */
import type { KeyedValue, RetrieveContext } from '#kvscheduler/api/descriptor.ts';
import type { LinuxInterface } from '#models/linux/interface.ts';
import type { LinuxHost, NamespacePath } from '../../api.ts';
import type { LinkMarks } from '../link-marks.ts';
import type { NamespaceDumps } from '../namespaces.ts';
import {
  existingLinkValue,
  type FoundLink,
  managedValue,
  type NamespaceLinks,
  type Retrieved,
  readNamespaces,
} from './found-links.ts';
import { linkLocation } from './link-location.ts';
import type { Veth } from './types/veth.ts';

/** The values to read by name, with the other ends of their veth pairs: a crash leaves the mark on one of them. */
export function requestedLinks(
  correlate: readonly KeyedValue<LinuxInterface>[],
  only: ReadonlySet<string> | undefined,
): ReadonlyMap<string, LinuxInterface> {
  const all = new Map(correlate.map(({ value }) => [value.name, value]));
  if (!only) return all;
  const requested = new Map<string, LinuxInterface>();
  for (const { key, value } of correlate) {
    if (!only.has(key)) continue;
    requested.set(value.name, value);
    const peer = all.get(value.veth?.peer_if_name ?? '');
    if (peer) requested.set(peer.name, peer);
  }
  return requested;
}

interface InPlaceOptions {
  readonly host: LinuxHost;
  readonly marks: LinkMarks;
  readonly dumps: NamespaceDumps;
  readonly veth: Veth;
}

/**
 * The links of requested values, which the kernel is asked for by name in the agent's namespace: one end of the
 * link of every pod is there.
 * @returns undefined unless the link of each value is in its location and has its mark
 */
export async function retrieveInPlace(
  { host, marks, dumps, veth }: InPlaceOptions,
  desired: ReadonlyMap<string, LinuxInterface>,
  { readBack }: RetrieveContext,
): Promise<readonly Retrieved[] | undefined> {
  const locations = [...desired.values()].map(linkLocation);
  const own = locations.filter(({ namespace }) => namespace === undefined);
  const names = own.map(({ name }) => name);
  const namespaces = await readNamespaces([...desired.values()], (path) =>
    path === undefined ? host.findLinks(path, names) : dumps.links(readBack, path),
  );
  const values: Retrieved[] = [];
  const peers = new Map<string, string | undefined>();
  for (const value of desired.values()) {
    const found = existingLinkValue(value, namespaces)[0] ?? inPlace(value, namespaces, marks);
    if (found === undefined) return undefined;
    values.push('space' in found ? managedValue(found, value) : found);
    peers.set(
      value.name,
      'space' in found && found.mark.type === 'VETH' ? found.mark.peer : undefined,
    );
  }
  for (const [name, peer] of peers) veth.setPlacedEnd(name, peer);
  return values;
}

function inPlace(
  value: LinuxInterface,
  namespaces: ReadonlyMap<NamespacePath, NamespaceLinks>,
  marks: LinkMarks,
): FoundLink | undefined {
  const { namespace, name } = linkLocation(value);
  const space = namespaces.get(namespace);
  const link = space?.links.find((each) => each.name === name);
  const mark = link && marks.read(link);
  return space && link && mark?.name === value.name ? { space, link, mark } : undefined;
}
