/**
 * Gives a link the configuration of its record. Only what is missing is added, so it can be repeated after
 * a crash at any step.
 */
import type { Clock } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import { isV6 } from '#linux/netlink/addresses.ts';
import type { HostLink, HostNetwork } from './host-network.ts';
import type { NicAddress, NicRecord, NicRoute } from './nic-record.ts';

/** Of the original. */
export const ATTEMPTS = 20;
export const ATTEMPT_PAUSE_MS = 200;

/** Address or route that could not be restored, with the reason. */
export type Missing = string;

export interface RestorationDeps {
  readonly network: HostNetwork;
  readonly clock: Pick<Clock, 'sleep'>;
}

type Configuration = Pick<NicRecord, 'name' | 'link' | 'dhcp' | 'addresses' | 'routes'>;

/**
 * @param link of the NIC, perhaps with another name
 * @returns what is still missing after all attempts
 */
export async function restoreConfiguration(
  { network, clock }: RestorationDeps,
  record: Configuration,
  link: HostLink,
): Promise<readonly Missing[]> {
  restoreLink(network, record, link);
  // The addresses of a DHCP client come from its server.
  if (record.dhcp) return [];
  for (let attempt = 1; ; attempt++) {
    const missing = restoreAddressesAndRoutes(network, record, link.index);
    if (missing.length === 0 || attempt === ATTEMPTS) return missing;
    // For example an IPv6 address that is still checked for duplicates cannot be the source of a route.
    await clock.sleep(ATTEMPT_PAUSE_MS);
  }
}

function restoreLink(
  network: HostNetwork,
  { name, link: wanted }: Configuration,
  link: HostLink,
): void {
  const { index } = link;
  const isRenamed = link.name !== name;
  const mac = wanted.mac !== undefined && wanted.mac !== link.mac ? wanted.mac : undefined;
  if (link.up && (isRenamed || mac !== undefined || !wanted.up))
    network.setLink(index, { up: false });
  if (isRenamed) network.rename(index, name);
  if (mac !== undefined) network.setLink(index, { mac });
  if (wanted.mtu !== link.mtu) network.setLink(index, { mtu: wanted.mtu });
  // Also if it is up: the change above may have set it down.
  if (wanted.up) network.setLink(index, { up: true });
}

function restoreAddressesAndRoutes(
  network: HostNetwork,
  { addresses, routes }: Configuration,
  index: number,
): readonly Missing[] {
  return [
    ...addMissing({
      wanted: inOrder(addresses),
      read: () => network.addresses(index),
      keyOf: addressKey,
      textOf: ({ address }) => `address ${address}`,
      add: (address) => network.addAddress(index, address),
    }),
    ...addMissing({
      wanted: routes,
      read: () => network.routes(index),
      keyOf: routeKey,
      textOf: routeText,
      add: (route) => network.addRoute(index, route),
    }),
  ];
}

/** The kernel puts each IPv6 address before those of its scope, and each IPv4 address behind them. */
function inOrder(addresses: readonly NicAddress[]): readonly NicAddress[] {
  const isIpv6 = ({ address }: NicAddress): boolean => isV6(address);
  return [...addresses.filter((each) => !isIpv6(each)), ...addresses.filter(isIpv6).toReversed()];
}

interface Objects<T> {
  readonly wanted: readonly T[];
  read(): readonly T[];
  keyOf(object: T): string;
  textOf(object: T): string;
  add(object: T): void;
}

/** A gateway may be reachable only by another route: repeated as long as one more could be added. */
function addMissing<T>({ wanted, read, keyOf, textOf, add }: Objects<T>): readonly Missing[] {
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const present = new Set(read().map(keyOf));
    const missing = wanted.filter((object) => !present.has(keyOf(object)));
    if (missing.length === 0) return [];
    const failures = missing.map((object) => `${textOf(object)}${failureOf(() => add(object))}`);
    if (missing.length >= before) return failures;
    before = missing.length;
  }
}

function failureOf(work: () => void): string {
  try {
    work();
    return '';
  } catch (thrown) {
    return `: ${errorText(thrown)}`;
  }
}

function addressKey({ address, peer }: NicAddress): string {
  return `${address} ${peer ?? ''}`;
}

/** Without what changes by itself. */
function routeKey({ expires: _, ...route }: NicRoute): string {
  return JSON.stringify(Object.entries(route).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function routeText({ destination, gateway, table, metric }: NicRoute): string {
  const parts = [`route ${destination}`];
  if (gateway !== undefined) parts.push(`via ${gateway}`);
  if (table !== 254) parts.push(`table ${table}`);
  if (metric !== undefined) parts.push(`metric ${metric}`);
  return parts.join(' ');
}
