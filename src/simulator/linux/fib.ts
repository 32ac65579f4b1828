/** The routing rules of the kernel, as far as they are relevant for an agent. */

import type { LinuxRoute, RouteScope } from '#linux/api.ts';
import { AGENT_ROUTE_PROTOCOL } from '#linux/api.ts';
import { type Cidr, contains, formatCidr, network, parseCidr, parseIp } from '#models/ip.ts';
import type { LinkNamespace, SimLink } from './link.ts';
import { linuxError } from './linux-error.ts';

export type RouteRequest = Omit<LinuxRoute, 'protocol'>;

const KERNEL_PROTOCOL = 2;
const CONNECTED_METRIC_V6 = 256;
const DEFAULT_METRIC_V6 = 1024;

export function isV6(cidr: Cidr): boolean {
  return cidr.address.length === 16;
}

export function sameCidr(a: Cidr, b: Cidr): boolean {
  return a.length === b.length && formatCidr(a) === formatCidr(b);
}

function cidrOf(text: string): Cidr {
  return parseCidr(text)!;
}

/** Adds the connected route of an address, if it does not exist. */
export function addConnectedRoute(space: LinkNamespace, link: SimLink, address: string): void {
  const cidr = cidrOf(address);
  const v6 = isV6(cidr);
  if (!link.up || address === '::1/128') return;
  if (!v6 && (cidr.length === 32 || link.kind === 'loopback')) return;
  const to = network(cidr);
  const metric = v6 ? CONNECTED_METRIC_V6 : 0;
  if (space.routes.some((r) => r.link === link && r.metric === metric && sameCidr(r.to, to)))
    return;
  const scope = v6 ? 'global' : 'link';
  space.routes.push({ to, gateway: undefined, link, scope, metric, protocol: KERNEL_PROTOCOL });
}

/** Deletes the connected route of an address, unless another address of the link has the same one. */
export function deleteConnectedRoute(space: LinkNamespace, link: SimLink, address: string): void {
  const to = network(cidrOf(address));
  if (link.addresses.some((other) => sameCidr(network(cidrOf(other.text)), to))) return;
  space.routes = space.routes.filter(
    (r) => !(r.link === link && r.protocol === KERNEL_PROTOCOL && sameCidr(r.to, to)),
  );
}

export function dropRoutes(space: LinkNamespace, link: SimLink, family?: 4 | 6): void {
  space.routes = space.routes.filter(
    (r) => r.link !== link || (family !== undefined && isV6(r.to) !== (family === 6)),
  );
}

/** IPv4: the gateway must be an address of the link, or reachable by an on-link route of the link. */
function checkGatewayV4(
  space: LinkNamespace,
  link: SimLink,
  gateway: string,
  scope: RouteScope,
  where: string,
): void {
  const address = parseIp(gateway)!;
  const own = link.addresses.some((a) => a.text.split('/')[0] === gateway);
  const scopes = scope === 'link' ? ['host'] : ['link', 'host'];
  const onLink = space.routes.some(
    (r) => r.link === link && scopes.includes(r.scope) && contains(r.to, address),
  );
  if (!own && !onLink) throw linuxError('ENETUNREACH', where);
  if (!link.up) throw linuxError('ENETDOWN', where);
}

function checkGatewayV6(space: LinkNamespace, link: SimLink, gateway: string, where: string): void {
  const address = parseIp(gateway)!;
  const own = [...space.links.values()].some((l) =>
    l.addresses.some((a) => a.text.split('/')[0] === gateway),
  );
  if (own) throw linuxError('EINVAL', where);
  if (/^fe[89ab]/i.test(gateway)) return;
  const [best] = space.routes
    .filter((r) => r.link === link && contains(r.to, address))
    .sort((a, b) => b.to.length - a.to.length || a.metric - b.metric);
  if (!best || best.gateway !== undefined) throw linuxError('EHOSTUNREACH', where);
}

export function addRoute(space: LinkNamespace, requested: RouteRequest): void {
  const where = `route ${requested.destination} dev ${requested.device}`;
  const written = cidrOf(requested.destination);
  const to = network(written);
  const v6 = isV6(to);
  const link = space.link(requested.device, where);
  const { gateway, scope } = requested;
  if (v6) {
    if (gateway !== undefined) {
      checkGatewayV6(space, link, gateway, where);
      if (link.kind === 'loopback') throw linuxError('EINVAL', where);
    }
    if (link.ipv6Disabled) throw linuxError('EACCES', where);
    if (!link.up) throw linuxError('ENETDOWN', where);
  } else {
    if (!sameCidr(to, written)) throw linuxError('EINVAL', where);
    if (gateway !== undefined) {
      if (scope === 'host') throw linuxError('EINVAL', where);
      checkGatewayV4(space, link, gateway, scope, where);
    } else if (scope !== 'host' && !link.up) throw linuxError('ENETDOWN', where);
  }
  const metric = requested.metric || (v6 ? DEFAULT_METRIC_V6 : 0);
  if (space.routes.some((r) => r.metric === metric && sameCidr(r.to, to)))
    throw linuxError('EEXIST', where);
  space.routes.push({
    to,
    gateway,
    link,
    scope: v6 ? 'global' : scope,
    metric,
    protocol: AGENT_ROUTE_PROTOCOL,
  });
}

/** Sets the protocol of an existing route. */
export function setProtocol(space: LinkNamespace, requested: RouteRequest, protocol: number): void {
  const to = network(cidrOf(requested.destination));
  const found = space.routes.find(
    (r) =>
      r.link.name === requested.device &&
      sameCidr(r.to, to) &&
      r.gateway === requested.gateway &&
      (requested.metric === 0 || r.metric === requested.metric),
  );
  if (!found) throw linuxError('ENOENT', `route ${requested.destination} dev ${requested.device}`);
  found.protocol = protocol;
}

export function replaceRoute(space: LinkNamespace, requested: RouteRequest): void {
  const before = space.routes;
  const to = network(cidrOf(requested.destination));
  const metric = requested.metric || (isV6(to) ? DEFAULT_METRIC_V6 : 0);
  space.routes = before.filter((r) => r.metric !== metric || !sameCidr(r.to, to));
  try {
    addRoute(space, requested);
  } catch (error) {
    space.routes = before;
    throw error;
  }
}

export function deleteRoute(space: LinkNamespace, requested: RouteRequest): void {
  const where = `route ${requested.destination} dev ${requested.device}`;
  const written = cidrOf(requested.destination);
  const to = network(written);
  const v6 = isV6(to);
  const link = space.link(requested.device, where);
  if (!v6 && !sameCidr(to, written)) throw linuxError('EINVAL', where);
  const [found] = space.routes
    .filter(
      (r) =>
        r.link === link &&
        r.protocol === AGENT_ROUTE_PROTOCOL &&
        sameCidr(r.to, to) &&
        (requested.metric === 0 || r.metric === requested.metric) &&
        (requested.gateway === undefined || r.gateway === requested.gateway) &&
        (v6 || r.scope === requested.scope),
    )
    .sort((a, b) => a.metric - b.metric);
  if (!found) throw linuxError('ESRCH', where);
  space.routes = space.routes.filter((r) => r !== found);
}
