/**
 * Reads back the links of the agent's namespace and of the namespaces of configured interfaces; if only some
 * values are read and their links are in place, these alone. A namespace that no longer exists has no links.
 */
import type { Logger } from '#infra/log/log.ts';
import type { KeyedValue, Leftover, RetrieveContext } from '#kvscheduler/api/descriptor.ts';
import {
  type LinuxInterface,
  linuxInterfaceKey,
  linuxInterfaceModel,
} from '#models/linux/interface.ts';
import type { LinuxHost, LinuxLink, NamespacePath } from '../../api.ts';
import { ignoreNotFound } from '../ignored-errors.ts';
import { type LinkMark, type LinkMarks, markOfAnyLabel, pendingEndName } from '../link-marks.ts';
import type { NamespaceDumps } from '../namespaces.ts';
import {
  existingLinkValue,
  type FoundLink,
  isAtLocation,
  managedValue,
  type NamespaceLinks,
  type Retrieved,
  readNamespaces,
} from './found-links.ts';
import { linkLocation } from './link-location.ts';
import type { LostTapLinks } from './lost-tap-links.ts';
import { requestedLinks, retrieveInPlace } from './requested-links.ts';
import type { Veth } from './types/veth.ts';

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
  ctx: RetrieveContext,
): Promise<readonly Retrieved[]> {
  const { only } = ctx;
  const desired = requestedLinks(correlate, only);
  const few = only && (await retrieveInPlace(needs, desired, ctx));
  const values = few ?? (await retrieveAll(needs, desired, ctx));
  // without the namespaces of other values, nothing is known about these
  return only ? values.filter(({ key }) => only.has(key)) : values;
}

async function retrieveAll(
  needs: RetrieveOptions,
  desired: ReadonlyMap<string, LinuxInterface>,
  { readBack, leftover }: RetrieveContext,
): Promise<readonly Retrieved[]> {
  const namespaces = await readNamespaces([...desired.values()], (path) =>
    needs.dumps.links(readBack, path),
  );
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
  return [
    ...[...linkByName].map(([name, found]) => managedValue(found, desired.get(name))),
    ...[...desired.values()].flatMap((value) => existingLinkValue(value, namespaces)),
  ];
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
  const isWhereMade = mark.isInPlace || space.path === undefined;
  return isWhereMade && link.name === mark.vppHostIfName && !isAtLocation(found, value);
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
    : marks.tap(mark.name, mark.vppTap, mark.vppHostIfName, mark.isInPlace);
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
    names: new Map(
      [...namespaces].map(([path, { links }]) => [path, new Set(links.map(({ name }) => name))]),
    ),
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
