/** Reads the state of the namespace of a socket, or some of its links. */
import type { LinuxLink, LinuxRoute, NamespaceState, RejectingRoute } from '../api.ts';
import { families } from './addresses.ts';
import { readAddresses } from './link-addresses.ts';
import { decodeLink, dumpLinks, getLink } from './links.ts';
import { decodeNeighbor, dumpNeighbors } from './neighbors.ts';
import { Refusal } from './refusal.ts';
import { decodeRoute, dumpRoutes, type FoundRoute } from './routes.ts';
import type { NetlinkSocket } from './socket.ts';

const bothFamilies = [families.ipv4, families.ipv6];

/**
 * Links are read last: then the device of each route, address and neighbor is known, unless it was
 * deleted meanwhile, which deletes those, too.
 */
export function readState(socket: NetlinkSocket): NamespaceState {
  const routes = bothFamilies.flatMap((family) => socket.dump(dumpRoutes(family), decodeRoute));
  const neighbors = bothFamilies.flatMap((family) =>
    socket.dump(dumpNeighbors(family), decodeNeighbor),
  );
  const addresses = new Map<number, string[]>();
  for (const { index, cidr } of readAddresses(socket)) {
    if (isLinkLocal(cidr)) continue;
    const same = addresses.get(index);
    if (same) same.push(cidr);
    else addresses.set(index, [cidr]);
  }
  const links = socket
    .dump(dumpLinks(), decodeLink)
    .map((link): LinuxLink => ({ ...link, addresses: addresses.get(link.index)?.sort() ?? [] }));
  const names = new Map(links.map(({ index, name }) => [index, name]));
  const rejecting = routes.filter((each) => each.forward === undefined).map(rejectingRoute);
  return {
    ...(rejecting.length > 0 && { rejecting }),
    links: links.sort((a, b) => a.index - b.index),
    routes: routes
      .flatMap((each) => route(each, names) ?? [])
      .sort(
        (a, b) =>
          compare(a.destination, b.destination) ||
          a.metric - b.metric ||
          compare(a.device, b.device),
      ),
    neighbors: neighbors
      .flatMap(({ index, ...entry }) => {
        const device = names.get(index);
        return device === undefined ? [] : [{ ...entry, device }];
      })
      .sort((a, b) => compare(a.device, b.device) || compare(a.address, b.address)),
  };
}

/** The links that have these names, without what else the namespace has. */
export function findLinks(socket: NetlinkSocket, names: readonly string[]): readonly LinuxLink[] {
  return [...new Set(names)].flatMap((name) => {
    try {
      const link = decodeLink(socket.get(getLink(name)));
      if (link.name !== name) return [];
      const cidrs = readAddresses(socket, link.index).map(({ cidr }) => cidr);
      return [{ ...link, addresses: cidrs.filter((cidr) => !isLinkLocal(cidr)).sort() }];
    } catch (thrown) {
      if (thrown instanceof Refusal && thrown.errno === 'ENODEV') return [];
      throw thrown;
    }
  });
}

function route(found: FoundRoute, names: ReadonlyMap<number, string>): LinuxRoute | undefined {
  const { destination, metric, forward } = found;
  const device = forward && names.get(forward.index);
  if (device === undefined || isLinkLocal(destination)) return undefined;
  const { gateway, scope, protocol } = forward!;
  return {
    destination,
    ...(gateway !== undefined && { gateway }),
    device,
    scope,
    metric,
    protocol,
  };
}

function rejectingRoute({ destination, metric }: FoundRoute): RejectingRoute {
  return { destination, metric };
}

function isLinkLocal(address: string): boolean {
  return /^fe[89ab][0-9a-f]:/.test(address);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
