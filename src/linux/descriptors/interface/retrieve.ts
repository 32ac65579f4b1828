/**
 * Reads back the links of the agent's namespace and of all namespaces that configured interfaces
 * name. A namespace that has gone has no links.
 */
import type { Logger } from '#infra/log/log.ts';
import type { KeyedValue, RetrievedValue } from '#kvscheduler/api/descriptor.ts';
import type { InterfaceType } from '#models/linux/interface.gen.ts';
import {
  type LinuxInterface,
  linuxInterfaceKey,
  linuxInterfaceModel,
  type NetNamespace,
} from '#models/linux/interface.ts';
import type { LinuxInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { LinuxHost, LinuxLink, NamespacePath } from '../../api.ts';
import { type LinkMark, type LinkMarks, pendingEndName } from '../link-marks.ts';
import { type NamespaceDumps, namespacePath } from '../namespaces.ts';
import { hostNameOf, linkLocation } from './link-location.ts';
import type { Veth } from './types/veth.ts';

/** MTU that links of the kinds we make start with. */
export const KERNEL_MTU = 1500;

interface NamespaceLinks {
  readonly path: NamespacePath;
  /** As the configuration names it. */
  readonly namespace: NetNamespace | undefined;
  readonly links: readonly LinuxLink[];
}

interface FoundLink {
  readonly place: NamespaceLinks;
  readonly link: LinuxLink;
  readonly mark: LinkMark;
}

type Retrieved = RetrievedValue<LinuxInterface, LinuxInterfaceMetadata>;

export interface RetrieveOptions {
  readonly host: LinuxHost;
  readonly log: Logger;
  readonly marks: LinkMarks;
  readonly dumps: NamespaceDumps;
  readonly veth: Veth;
}

export async function retrieveLinks(
  needs: RetrieveOptions,
  correlate: readonly KeyedValue<LinuxInterface>[],
): Promise<readonly Retrieved[]> {
  needs.dumps.invalidate();
  const wanted = new Map(correlate.map(({ value }) => [value.name, value]));
  const places = await readNamespaces(needs, [...wanted.values()]);
  const byName = new Map<string, FoundLink[]>();
  for (const place of places.values()) {
    for (const link of place.links) {
      const mark = needs.marks.read(link);
      if (mark === undefined) continue;
      const same = byName.get(mark.name) ?? [];
      byName.set(mark.name, [...same, { place, link, mark }]);
    }
  }
  await markUnmarked(needs, wanted, places, byName);

  const placed = new Map<string, FoundLink>();
  for (const [name, found] of byName) {
    const value = wanted.get(name);
    const here = found.filter((each) => !isUnmoved(each, value));
    const chosen = here.find((each) => value && isInPlace(each, value)) ?? here[0];
    if (chosen !== undefined) placed.set(name, chosen);
  }
  recordEnds(needs.veth, wanted, byName, placed);
  addOrphans(wanted, byName, placed);
  return [
    ...[...placed].map(([name, found]) => managedValue(found, wanted.get(name))),
    ...[...wanted.values()].flatMap((value) => existingLinkValue(value, places)),
  ];
}

async function readNamespaces(
  { dumps }: RetrieveOptions,
  wanted: readonly LinuxInterface[],
): Promise<ReadonlyMap<NamespacePath, NamespaceLinks>> {
  const named = new Map<NamespacePath, NetNamespace | undefined>([[undefined, undefined]]);
  for (const { namespace } of wanted) {
    const path = namespacePath(namespace);
    if (!named.has(path)) named.set(path, namespace);
  }
  const places = await Promise.all(
    [...named].map(async ([path, namespace]): Promise<[NamespacePath, NamespaceLinks]> => {
      const state = await dumps.read(path, 'linux-interface');
      return [path, { path, namespace, links: state?.links ?? [] }];
    }),
  );
  return new Map(places);
}

function isInPlace({ place, link }: FoundLink, value: LinuxInterface): boolean {
  const { namespace, name } = linkLocation(value);
  return place.path === namespace && link.name === name;
}

function isPendingEnd({ place, link, mark }: FoundLink): boolean {
  return (
    mark.type === 'VETH' && place.path === undefined && link.name === pendingEndName(mark.name)
  );
}

/**
 * Marked, but still where it comes from: its value has yet to be created. A TAP that its value does
 * not want any more has only kept its mark, which is to go.
 */
function isUnmoved(found: FoundLink, value: LinuxInterface | undefined): boolean {
  if (isPendingEnd(found)) return true;
  const { place, link, mark } = found;
  if (mark.type !== 'TAP_TO_VPP' || value?.tap?.vpp_tap_if_name !== mark.vppTap) return false;
  const isBack = link.name === mark.vppHostIfName && place.path === undefined;
  return isBack && !isInPlace(found, value);
}

/**
 * An end without a mark in the place of a wanted value is ours if its other end is marked for it, or
 * waits under the name that only we make, for that value's peer: the agent died while it made the
 * pair.
 */
async function markUnmarked(
  { host, log, marks }: RetrieveOptions,
  wanted: ReadonlyMap<string, LinuxInterface>,
  places: ReadonlyMap<NamespacePath, NamespaceLinks>,
  byName: Map<string, FoundLink[]>,
): Promise<void> {
  const own = places.get(undefined);
  for (const value of wanted.values()) {
    const peer = value.veth?.peer_if_name;
    if (own === undefined || peer === undefined || byName.has(value.name)) continue;
    const { namespace, name } = linkLocation(value);
    const place = places.get(namespace);
    const link = place?.links.find((each) => each.name === name && !each.alias);
    if (place === undefined || link?.kind !== 'veth') continue;
    const isOther = (each: LinuxLink): boolean =>
      each.index === link.peerIndex && each.peerIndex === link.index;
    const marked = byName
      .get(peer)
      ?.find((each) => each.mark.type === 'VETH' && each.mark.peer === value.name);
    const waiting = own.links.find((each) => each.name === pendingEndName(peer));
    const hasMarked = marked !== undefined && isOther(marked.link);
    if (!hasMarked && (waiting === undefined || !isOther(waiting))) continue;
    log.warn({ interface: value.name }, 'mark a veth pair left without a mark');
    await host.setLink(namespace, name, { alias: marks.veth(value.name, peer) });
    byName.set(value.name, [{ place, link, mark: { type: 'VETH', name: value.name, peer } }]);
    if (hasMarked || waiting === undefined) continue;
    await host.setLink(undefined, waiting.name, { alias: marks.veth(peer, value.name) });
    const mark = { type: 'VETH', name: peer, peer: value.name } as const;
    byName.set(peer, [{ place: own, link: waiting, mark }]);
  }
}

/** Of a name that was not looked for only what is seen counts: its place may be elsewhere. */
function recordEnds(
  veth: Veth,
  wanted: ReadonlyMap<string, LinuxInterface>,
  byName: ReadonlyMap<string, readonly FoundLink[]>,
  placed: ReadonlyMap<string, FoundLink>,
): void {
  const waiting = [...byName.values()].flat().filter(isPendingEnd);
  veth.setPendingEnds(
    new Map(waiting.flatMap(({ mark }) => (mark.type === 'VETH' ? [[mark.name, mark.peer]] : []))),
  );
  for (const name of new Set([...wanted.keys(), ...placed.keys()])) {
    const mark = placed.get(name)?.mark;
    veth.setPlacedEnd(name, mark?.type === 'VETH' ? mark.peer : undefined);
  }
}

/** An end that waits, of a pair that nobody wants or has any more, is told to be removed. */
function addOrphans(
  wanted: ReadonlyMap<string, LinuxInterface>,
  byName: ReadonlyMap<string, readonly FoundLink[]>,
  placed: Map<string, FoundLink>,
): void {
  for (const [name, found] of byName) {
    const waiting = found.find(isPendingEnd);
    if (waiting?.mark.type !== 'VETH' || placed.has(name)) continue;
    const { peer } = waiting.mark;
    if (!wanted.has(name) && !wanted.has(peer) && !placed.has(peer)) placed.set(name, waiting);
  }
}

function managedValue(
  { place, link, mark }: FoundLink,
  wanted: LinuxInterface | undefined,
): Retrieved {
  const same = wanted?.type === mark.type ? wanted : undefined;
  const inPlace = same !== undefined && linkLocation(same).namespace === place.path;
  const value = linuxInterfaceModel.canonical({
    name: mark.name,
    type: mark.type,
    namespace: inPlace ? same.namespace : place.namespace,
    host_if_name:
      same !== undefined && hostNameOf(same) === link.name ? same.host_if_name : link.name,
    enabled: link.up,
    ip_addresses: adoptAddresses(link, same),
    phys_address: adoptMac(link, same),
    mtu: link.mtu === KERNEL_MTU && same?.mtu !== KERNEL_MTU ? 0 : link.mtu,
    link_only: same?.link_only ?? false,
    ...(mark.type === 'VETH' && {
      veth: {
        // the kernel does not tell of the offload in a dump
        ...same?.veth,
        peer_if_name: mark.peer,
      },
    }),
    ...(mark.type === 'TAP_TO_VPP' && { tap: { vpp_tap_if_name: mark.vppTap } }),
  });
  return {
    key: linuxInterfaceKey.build({ name: mark.name }),
    value,
    origin: 'from-NB',
    metadata: {
      namespace: place.path,
      hostIfName: link.name,
      ...(mark.type === 'TAP_TO_VPP' && { vppHostIfName: mark.vppHostIfName }),
    },
  };
}

function adoptMac(link: LinuxLink, wanted: LinuxInterface | undefined): string {
  const left = wanted !== undefined && (wanted.link_only || wanted.phys_address === '');
  return left ? wanted.phys_address : (link.mac ?? '');
}

function adoptAddresses(link: LinuxLink, wanted: LinuxInterface | undefined): readonly string[] {
  const asked = wanted?.ip_addresses ?? [];
  if (wanted?.link_only === true) return asked;
  const found = new Set(link.addresses);
  const same = found.size === asked.length && asked.every((address) => found.has(address));
  return same ? asked : link.addresses;
}

const sharedTypes: readonly InterfaceType[] = ['LOOPBACK', 'EXISTING'];

/** Of a link that is not ours, only what is asked for is told. */
function existingLinkValue(
  wanted: LinuxInterface,
  places: ReadonlyMap<NamespacePath, NamespaceLinks>,
): readonly Retrieved[] {
  if (!sharedTypes.includes(wanted.type)) return [];
  const { namespace, name } = linkLocation(wanted);
  const link = places.get(namespace)?.links.find((each) => each.name === name);
  if (link === undefined) return [];
  const { link_only, ip_addresses } = wanted;
  const value = linuxInterfaceModel.canonical({
    ...wanted,
    enabled: link.up,
    ip_addresses: ip_addresses.filter((each) => link_only || link.addresses.includes(each)),
    phys_address: adoptMac(link, wanted),
    mtu: wanted.mtu === 0 ? 0 : link.mtu,
  });
  return [
    {
      key: linuxInterfaceKey.build({ name: wanted.name }),
      value,
      origin: 'from-NB',
      metadata: { namespace, hostIfName: name },
    },
  ];
}
