import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor, emptyValue } from '#kvscheduler/api/define-descriptor.ts';
import type {
  Dependency,
  KvDescriptor,
  Leftover,
  OperationContext,
} from '#kvscheduler/api/descriptor.ts';
import { contains, parseCidr, parseIp } from '#models/ip.ts';
import { linkLocalRouteKey, linuxInterfaceAddressKey } from '#models/linux/derived.ts';
import { linuxInterfaceKey } from '#models/linux/interface.ts';
import { type LinuxRoute, type LinuxRouteScope, linuxRouteModel } from '#models/linux/route.ts';
import type { LinuxInterfaceMetadata } from '#plugins/controller/api/ports/metadata.ts';
import type * as api from '../api.ts';
import { AGENT_ROUTE_PROTOCOL, LinuxError } from '../api.ts';
import { ignoreErrno, ignoreNotFound } from './ignored-errors.ts';
import { interfaceDependencies } from './interface-dependencies.ts';
import { managedLinks } from './managed-links.ts';
import type { LinuxDescriptorOptions } from './options.ts';

/** The kernel's default for IPv6 routes. */
const IPV6_METRIC = 1024;

const scopes: Readonly<Record<LinuxRouteScope, api.RouteScope | undefined>> = {
  UNDEFINED: undefined,
  GLOBAL: 'global',
  SITE: 'site',
  LINK: 'link',
  HOST: 'host',
};

function isIpv6(route: LinuxRoute): boolean {
  return route.dst_network.includes(':');
}

/** IPv6 routes have no scope: the kernel reports all of them as global. */
function scopeOf(route: LinuxRoute): api.RouteScope {
  if (isIpv6(route)) return 'global';
  return scopes[route.scope] ?? (route.gw_addr === '' ? 'link' : 'global');
}

function metricOf(route: LinuxRoute): number {
  return isIpv6(route) && route.metric === 0 ? IPV6_METRIC : route.metric;
}

function equivalent(a: LinuxRoute, b: LinuxRoute): boolean {
  return (
    a.dst_network === b.dst_network &&
    a.outgoing_interface === b.outgoing_interface &&
    a.gw_addr === b.gw_addr &&
    scopeOf(a) === scopeOf(b) &&
    metricOf(a) === metricOf(b)
  );
}

/** Protocol number of the routes that the kernel adds by itself. */
const KERNEL_PROTOCOL = 2;

/**
 * Routes of the main table. Managed ones have the agent's routing protocol number. A desired route that
 * exists with another number on a managed link is marked with it: the original agent sets none.
 */
export function linuxRouteDescriptor({
  host,
  dumps,
}: LinuxDescriptorOptions): KvDescriptor<LinuxRoute, undefined> {
  const target = (
    route: LinuxRoute,
    ctx: OperationContext,
  ): readonly [api.NamespacePath, Omit<api.LinuxRoute, 'protocol'>] => {
    const key = linuxInterfaceKey.build({ name: route.outgoing_interface });
    const { namespace, hostIfName } = ctx.metadata<LinuxInterfaceMetadata>(key);
    return [
      namespace,
      {
        destination: route.dst_network,
        device: hostIfName,
        scope: scopeOf(route),
        metric: metricOf(route),
        ...(route.gw_addr !== '' && { gateway: route.gw_addr }),
      },
    ];
  };
  /** The kernel adds the route to the subnet of an address only with the address: nothing would restore it. */
  const checkReplaceable = async (
    namespace: api.NamespacePath,
    { destination, device, metric }: Omit<api.LinuxRoute, 'protocol'>,
  ): Promise<void> => {
    const { routes } = await host.dump(namespace);
    const kept = routes.find(
      (each) =>
        each.protocol === KERNEL_PROTOCOL &&
        each.destination === destination &&
        each.metric === metric,
    );
    if (kept === undefined) return;
    throw new LinuxError(
      `the kernel has its own route to this destination with the same metric, by an address of ${kept.device}: delete the value, or give it another metric (EEXIST)`,
      { where: `route ${destination} dev ${device}`, errno: 'EEXIST' },
    );
  };
  /** A desired route that has another protocol number. */
  const wrongProtocol = (
    namespace: api.NamespacePath,
    route: api.LinuxRoute,
    value: LinuxRoute,
    desired: ReadonlyMap<string, LinuxRoute>,
  ): Leftover | undefined => {
    const key = linuxRouteModel.key(value);
    const known = desired.get(key);
    if (route.protocol === KERNEL_PROTOCOL || !known || !equivalent(value, known)) return undefined;
    const { protocol, ...found } = route;
    return {
      name: `mark/${key}`,
      what: `the route of ${route.device} to ${route.destination} has the protocol number ${protocol} of another program`,
      of: key,
      precedes: [],
      async remove() {
        dumps.invalidate();
        await ignoreNotFound(host.replaceRoute(namespace, found));
      },
    };
  };
  return defineDescriptor('linux-route', linuxRouteModel, {
    retrieveDependencies: ['linux-interface'],
    validate,
    equivalent: (_key, a, b) => equivalent(a, b),
    dependencies: (_key, value) => dependencies(value),
    derived: (_key, value) => derived(value),

    async create(_key, value, ctx) {
      dumps.invalidate();
      const route = target(value, ctx);
      // an unmanaged route has the same destination and metric: only one of them can exist
      const isAdded = await ignoreErrno('EEXIST', host.addRoute(...route));
      if (isAdded) return undefined;
      await checkReplaceable(...route);
      await host.replaceRoute(...route);
      return undefined;
    },
    async delete(_key, value, _metadata, ctx) {
      dumps.invalidate();
      await ignoreNotFound(host.deleteRoute(...target(value, ctx)));
    },

    async retrieve(correlate, ctx) {
      const desired = new Map(correlate.map(({ key, value }) => [key, value]));
      const found = await Promise.all(
        [...managedLinks(ctx, correlate, (one) => one.outgoing_interface)].map(
          async ([namespace, names]) => {
            const state = await dumps.read(ctx.readBack, namespace);
            const values: LinuxRoute[] = [];
            for (const route of state?.routes ?? []) {
              const iface = names.get(route.device);
              if (iface === undefined) continue;
              const value = read(route, iface);
              if (route.protocol !== AGENT_ROUTE_PROTOCOL) {
                const wrong = wrongProtocol(namespace, route, value, desired);
                if (!wrong) continue;
                ctx.leftover(wrong);
              }
              values.push(value);
            }
            return values;
          },
        ),
      );
      return found.flat().map((value) => {
        const key = linuxRouteModel.key(value);
        const known = desired.get(key);
        const same = known !== undefined && equivalent(value, known);
        return { key, value: same ? known : value, origin: 'from-NB' as const };
      });
    },
  });
}

function read(route: api.LinuxRoute, iface: string): LinuxRoute {
  const scope = Object.entries(scopes).find(([, name]) => name === route.scope)?.[0];
  return linuxRouteModel.canonical({
    outgoing_interface: iface,
    scope: scope as LinuxRouteScope,
    dst_network: route.destination,
    gw_addr: route.gateway ?? '',
    metric: route.metric,
  });
}

function validate(key: string, route: LinuxRoute): void {
  checkField(key, route.outgoing_interface !== '', 'outgoing_interface', 'missing');
  checkField(key, route.dst_network !== '', 'dst_network', 'missing');
  for (const field of ['dst_network', 'gw_addr'] as const) {
    const allocated = route[field].startsWith('alloc:');
    checkField(key, !allocated, field, 'references to allocated addresses are not supported');
  }
  const sameFamily = route.gw_addr === '' || route.gw_addr.includes(':') === isIpv6(route);
  checkField(key, sameFamily, 'gw_addr', 'is not of the family of dst_network');
}

function dependencies(route: LinuxRoute): readonly Dependency[] {
  const iface = route.outgoing_interface;
  const needed = interfaceDependencies(iface, route.dst_network);
  if (route.gw_addr === '') return needed;
  const prefixes = [
    linuxInterfaceAddressKey.prefix({ iface }),
    linkLocalRouteKey.prefix({ iface }),
  ];
  const accepts = (key: string): boolean => isReachableBy(key, route.gw_addr);
  return [...needed, { label: 'gateway-is-reachable', anyOf: { prefixes, accepts } }];
}

/** Whether the address or link route of this key covers the gateway. */
function isReachableBy(key: string, gateway: string): boolean {
  const text =
    linuxInterfaceAddressKey.parse(key)?.address ?? linkLocalRouteKey.parse(key)?.destination;
  const cidr = text === undefined ? undefined : parseCidr(text);
  const address = parseIp(gateway);
  return cidr !== undefined && address !== undefined && contains(cidr, address);
}

/** A route without a gateway makes the gateways of other routes reachable. */
function derived(route: LinuxRoute): ReturnType<NonNullable<KvDescriptor['derived']>> {
  if (route.gw_addr !== '') return [];
  const { outgoing_interface: iface, dst_network: destination } = route;
  return [{ key: linkLocalRouteKey.build({ iface, destination }), value: emptyValue }];
}
