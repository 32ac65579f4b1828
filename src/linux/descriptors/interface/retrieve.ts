/**
 * Reads back the links of the agent's namespace and of the namespaces of configured interfaces. A
 * namespace that no longer exists has no links.
 */
import type { Logger } from '#infra/log/log.ts';
import type {
  KeyedValue,
  Leftover,
  RetrieveContext,
  RetrievedValue,
} from '#kvscheduler/api/descriptor.ts';
import type { InterfaceType } from '#models/linux/interface.gen.ts';
import {
  type LinuxInterface,
  linuxInterfaceKey,
  linuxInterfaceModel,
  type NetNamespace,
} from '#models/linux/interface.ts';
import type { LinuxInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type { LinuxHost, LinuxLink, NamespacePath } from '../../api.ts';
import { ignoreNotFound } from '../ignored-errors.ts';
import { type LinkMark, type LinkMarks, markOfAnyLabel, pendingEndName } from '../link-marks.ts';
import { type NamespaceDumps, namespacePath } from '../namespaces.ts';
import { hostNameOf, linkLocation } from './link-location.ts';
import type { LostTapLinks } from './lost-tap-links.ts';
import type { Veth } from './types/veth.ts';

/** Initial MTU of the links that the agent creates. */
export const KERNEL_MTU = 1500;

interface NamespaceLinks {
  readonly path: NamespacePath;
  /** In the form of the configuration. */
  readonly namespace: NetNamespace | undefined;
  readonly links: readonly LinuxLink[];
}

interface FoundLink {
  readonly space: NamespaceLinks;
  readonly link: LinuxLink;
  readonly mark: LinkMark;
}

type Retrieved = RetrievedValue<LinuxInterface, LinuxInterfaceMetadata>;

export interface RetrieveOptions {
  readonly host: LinuxHost;
  readonly log: Logger;
  readonly marks: LinkMarks;
  readonly dumps: NamespaceDumps;
  readonly lostTapLinks: LostTapLinks;
  readonly veth: Veth;
}

export async function retrieveLinks(
  needs: RetrieveOptions,
  correlate: readonly KeyedValue<LinuxInterface>[],
  { readBack, leftover, only }: RetrieveContext,
): Promise<readonly Retrieved[]> {
  const desired = requestedLinks(correlate, only);
  const namespaces = await readNamespaces(needs.dumps, readBack, [...desired.values()]);
  const byName = new Map<string, FoundLink[]>();
  for (const space of namespaces.values()) {
    for (const link of space.links) {
      const mark = needs.marks.read(link);
      if (mark === undefined) continue;
      const same = byName.get(mark.name) ?? [];
      byName.set(mark.name, [...same, { space, link, mark }]);
    }
  }
  for (const one of takeOverMarks(needs, desired, namespaces, byName)) leftover(one);
  for (const one of adoptUnmarked(needs, desired, namespaces, byName)) leftover(one);

  const linkByName = new Map<string, FoundLink>();
  for (const [name, found] of byName) {
    const value = desired.get(name);
    const here = found.filter((each) => !isUnmoved(each, value));
    const chosen = here.find((each) => value && isAtLocation(each, value)) ?? here[0];
    if (chosen !== undefined) linkByName.set(name, chosen);
  }
  recordEnds(needs.veth, desired, byName, linkByName);
  addOrphans(desired, byName, linkByName);
  recordTapLinks(needs.lostTapLinks, readBack, desired, namespaces, byName);
  const values = [
    ...[...linkByName].map(([name, found]) => managedValue(found, desired.get(name))),
    ...[...desired.values()].flatMap((value) => existingLinkValue(value, namespaces)),
  ];
  // without the namespaces of other values, nothing is known about these
  return only ? values.filter(({ key }) => only.has(key)) : values;
}

/** The values to read by name, with the other ends of their veth pairs: a crash leaves the mark on one of them. */
function requestedLinks(
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

async function readNamespaces(
  dumps: NamespaceDumps,
  readBack: object,
  desired: readonly LinuxInterface[],
): Promise<ReadonlyMap<NamespacePath, NamespaceLinks>> {
  const named = new Map<NamespacePath, NetNamespace | undefined>([[undefined, undefined]]);
  for (const { namespace } of desired) {
    const path = namespacePath(namespace);
    if (!named.has(path)) named.set(path, namespace);
  }
  const namespaces = await Promise.all(
    [...named].map(async ([path, namespace]): Promise<[NamespacePath, NamespaceLinks]> => {
      const state = await dumps.read(readBack, path);
      return [path, { path, namespace, links: state?.links ?? [] }];
    }),
  );
  return new Map(namespaces);
}

function isAtLocation({ space, link }: FoundLink, value: LinuxInterface): boolean {
  const { namespace, name } = linkLocation(value);
  return space.path === namespace && link.name === name;
}

function isPendingEnd({ space, link, mark }: FoundLink): boolean {
  return (
    mark.type === 'VETH' && space.path === undefined && link.name === pendingEndName(mark.name)
  );
}

/**
 * Whether a marked link is still in its original location: its value is not created yet. A TAP that its
 * value no longer desires has only kept its mark, which must be removed.
 */
function isUnmoved(found: FoundLink, value: LinuxInterface | undefined): boolean {
  if (isPendingEnd(found)) return true;
  const { space, link, mark } = found;
  if (mark.type !== 'TAP_TO_VPP' || value?.tap?.vpp_tap_if_name !== mark.vppTap) return false;
  const isBack = link.name === mark.vppHostIfName && space.path === undefined;
  return isBack && !isAtLocation(found, value);
}

/**
 * Takes over links that another agent has marked, in the location of the desired value of their name: the
 * label of this node has changed, or the original agent ran here with another one. Other links with
 * another label in the agent's namespace may belong to a second agent.
 */
function takeOverMarks(
  { host, log, marks, dumps }: RetrieveOptions,
  desired: ReadonlyMap<string, LinuxInterface>,
  namespaces: ReadonlyMap<NamespacePath, NamespaceLinks>,
  byName: Map<string, FoundLink[]>,
): readonly Leftover[] {
  const wrong: Leftover[] = [];
  for (const space of namespaces.values()) {
    for (const link of space.links) {
      const mark = marks.read(link) === undefined ? markOfAnyLabel(link.alias) : undefined;
      if (mark === undefined) continue;
      const value = desired.get(mark.name);
      const found = { space, link, mark };
      if (value?.type !== mark.type || byName.has(mark.name) || !isAtLocation(found, value)) {
        const fields = { interface: mark.name, link: link.name, alias: link.alias };
        if (space.path === undefined)
          log.warn(fields, 'leaving a link alone: an agent with another label has marked it');
        continue;
      }
      byName.set(mark.name, [found]);
      const what = `an agent with another label has marked the link ${link.name}: ${link.alias}`;
      wrong.push(
        wrongMarks(mark.name, what, async () => {
          dumps.invalidate();
          const settings = { alias: markText(marks, mark) };
          await ignoreNotFound(host.setLink(space.path, link.name, settings));
        }),
      );
    }
  }
  return wrong;
}

function wrongMarks(name: string, what: string, remove: () => Promise<void>): Leftover {
  const key = linuxInterfaceKey.build({ name });
  return { name: `mark/${name}`, what, of: key, precedes: [linuxInterfaceModel.keyPrefix], remove };
}

function markText(marks: LinkMarks, mark: LinkMark): string {
  return mark.type === 'VETH'
    ? marks.veth(mark.name, mark.peer)
    : marks.tap(mark.name, mark.vppTap, mark.vppHostIfName);
}

/**
 * Finds the pairs of a create that a crash interrupted. An unmarked end in the location of a desired
 * value is managed if its other end is marked for it, or is the pending end of the value's peer.
 */
function adoptUnmarked(
  { host, marks, dumps }: RetrieveOptions,
  desired: ReadonlyMap<string, LinuxInterface>,
  namespaces: ReadonlyMap<NamespacePath, NamespaceLinks>,
  byName: Map<string, FoundLink[]>,
): readonly Leftover[] {
  const wrong: Leftover[] = [];
  const own = namespaces.get(undefined);
  for (const value of desired.values()) {
    const peer = value.veth?.peer_if_name;
    if (own === undefined || peer === undefined || byName.has(value.name)) continue;
    const { namespace, name } = linkLocation(value);
    const space = namespaces.get(namespace);
    const link = space?.links.find((each) => each.name === name && !each.alias);
    if (space === undefined || link?.kind !== 'veth') continue;
    const isOther = (each: LinuxLink): boolean =>
      each.index === link.peerIndex && each.peerIndex === link.index;
    const marked = byName
      .get(peer)
      ?.find((each) => each.mark.type === 'VETH' && each.mark.peer === value.name);
    const pending = own.links.find((each) => each.name === pendingEndName(peer));
    const hasMarked = marked !== undefined && isOther(marked.link);
    if (!hasMarked && (pending === undefined || !isOther(pending))) continue;
    const other = hasMarked ? undefined : pending;
    byName.set(value.name, [{ space, link, mark: { type: 'VETH', name: value.name, peer } }]);
    if (other) {
      const mark = { type: 'VETH', name: peer, peer: value.name } as const;
      byName.set(peer, [{ space: own, link: other, mark }]);
    }
    wrong.push(
      wrongMarks(value.name, `a crash has left the veth pair of ${name} unmarked`, async () => {
        dumps.invalidate();
        const set = (path: NamespacePath, link: string, alias: string) =>
          ignoreNotFound(host.setLink(path, link, { alias }));
        await set(namespace, name, marks.veth(value.name, peer));
        if (other) await set(undefined, other.name, marks.veth(peer, value.name));
      }),
    );
  }
  return wrong;
}

/** A name that is neither desired nor found keeps its entry: its location may not have been read. */
function recordEnds(
  veth: Veth,
  desired: ReadonlyMap<string, LinuxInterface>,
  byName: ReadonlyMap<string, readonly FoundLink[]>,
  linkByName: ReadonlyMap<string, FoundLink>,
): void {
  const pending = [...byName.values()].flat().filter(isPendingEnd);
  veth.setPendingEnds(
    new Map(pending.flatMap(({ mark }) => (mark.type === 'VETH' ? [[mark.name, mark.peer]] : []))),
  );
  for (const name of new Set([...desired.keys(), ...linkByName.keys()])) {
    const mark = linkByName.get(name)?.mark;
    veth.setPlacedEnd(name, mark?.type === 'VETH' ? mark.peer : undefined);
  }
}

function recordTapLinks(
  lostTapLinks: LostTapLinks,
  readBack: object,
  desired: ReadonlyMap<string, LinuxInterface>,
  namespaces: ReadonlyMap<NamespacePath, NamespaceLinks>,
  byName: ReadonlyMap<string, readonly FoundLink[]>,
): void {
  const marks = [...byName.values()].flat().map(({ mark }) => mark);
  lostTapLinks.record(readBack, {
    desired: [...desired.values()].flatMap(({ tap }) => tap?.vpp_tap_if_name ?? []),
    marked: marks.flatMap((mark) => (mark.type === 'TAP_TO_VPP' ? mark.vppTap : [])),
    own: (namespaces.get(undefined)?.links ?? []).map(({ name }) => name),
  });
}

/** Reports pending ends of pairs that are neither desired nor placed, so that they are deleted. */
function addOrphans(
  desired: ReadonlyMap<string, LinuxInterface>,
  byName: ReadonlyMap<string, readonly FoundLink[]>,
  linkByName: Map<string, FoundLink>,
): void {
  for (const [name, found] of byName) {
    const pending = found.find(isPendingEnd);
    if (pending?.mark.type !== 'VETH' || linkByName.has(name)) continue;
    const { peer } = pending.mark;
    if (!desired.has(name) && !desired.has(peer) && !linkByName.has(peer))
      linkByName.set(name, pending);
  }
}

function managedValue(
  { space, link, mark }: FoundLink,
  desired: LinuxInterface | undefined,
): Retrieved {
  const same = desired?.type === mark.type ? desired : undefined;
  const isSameNamespace = same !== undefined && linkLocation(same).namespace === space.path;
  const value = linuxInterfaceModel.canonical({
    name: mark.name,
    type: mark.type,
    namespace: isSameNamespace ? same.namespace : space.namespace,
    host_if_name:
      same !== undefined && hostNameOf(same) === link.name ? same.host_if_name : link.name,
    enabled: link.up,
    ip_addresses: adoptAddresses(link, same),
    phys_address: adoptMac(link, same),
    mtu: link.mtu === KERNEL_MTU && same?.mtu !== KERNEL_MTU ? 0 : link.mtu,
    link_only: same?.link_only ?? false,
    ...(mark.type === 'VETH' && {
      veth: {
        // a dump does not contain the offload settings
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
      namespace: space.path,
      hostIfName: link.name,
      ...(mark.type === 'TAP_TO_VPP' && { vppHostIfName: mark.vppHostIfName }),
    },
  };
}

function adoptMac(link: LinuxLink, desired: LinuxInterface | undefined): string {
  const left = desired !== undefined && (desired.link_only || desired.phys_address === '');
  return left ? desired.phys_address : (link.mac ?? '');
}

function adoptAddresses(link: LinuxLink, desired: LinuxInterface | undefined): readonly string[] {
  const asked = desired?.ip_addresses ?? [];
  if (desired?.link_only === true) return asked;
  const found = new Set(link.addresses);
  // the configuration may list an address twice
  const isAll = found.size === new Set(asked).size;
  const same = isAll && asked.every((address) => found.has(address));
  return same ? asked : link.addresses;
}

const sharedTypes: readonly InterfaceType[] = ['LOOPBACK', 'EXISTING'];

/** For an unmanaged link, reports only the settings that the value contains. */
function existingLinkValue(
  desired: LinuxInterface,
  namespaces: ReadonlyMap<NamespacePath, NamespaceLinks>,
): readonly Retrieved[] {
  if (!sharedTypes.includes(desired.type)) return [];
  const { namespace, name } = linkLocation(desired);
  const link = namespaces.get(namespace)?.links.find((each) => each.name === name);
  if (link === undefined) return [];
  const { link_only, ip_addresses } = desired;
  const value = linuxInterfaceModel.canonical({
    ...desired,
    enabled: link.up,
    ip_addresses: ip_addresses.filter((each) => link_only || link.addresses.includes(each)),
    phys_address: adoptMac(link, desired),
    mtu: desired.mtu === 0 ? 0 : link.mtu,
  });
  return [
    {
      key: linuxInterfaceKey.build({ name: desired.name }),
      value,
      origin: 'from-NB',
      metadata: { namespace, hostIfName: name },
    },
  ];
}
