/** The state that a VPP dumps, in a form in which two VPPs can be compared. */
import { fromAddress, fromMac, fromPrefix } from '#vpp/binapi/addresses.ts';
import type { VppClient } from '#vpp/binapi/api.ts';

const ALL = 0xffff_ffff;
/** Entries by which VPP follows the route to a next hop: they mirror other entries. */
const RECURSIVE_RESOLUTION = 18;

/** Messages as plain, readable data. */
export function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    if (value.length === 6) return fromMac(value);
    return value.every((byte) => byte === 0) ? 'zero' : Buffer.from(value).toString('hex');
  }
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Record<string, unknown>;
  const isPrefix = 'len' in fields && 'address' in fields;
  // without a family it is the address of one family
  if (isPrefix && !(fields['address'] instanceof Uint8Array)) return fromPrefix(fields as never);
  if ('af' in fields && 'un' in fields) return fromAddress(fields as never);
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => name !== 'label_stack')
      .map(([name, part]) => [name, plain(part)]),
  );
}

function sorted(values: readonly unknown[]): unknown[] {
  return values.map(plain).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

const RANDOM_MAC = 'random';

/** VPP generates MACs with the prefix `02:fe`; those that tests set begin with `02:fe:00:00:00`. */
export function comparableMac(mac: Uint8Array): string {
  const text = fromMac(mac);
  return text.startsWith('02:fe:') && !text.startsWith('02:fe:00:00:00') ? RANDOM_MAC : text;
}

export async function readVppState(client: VppClient): Promise<Record<string, unknown>> {
  const each = { sw_if_index: ALL };
  const interfaces = await client.dump('sw_interface_dump', {
    ...each,
    name_filter_valid: false,
    name_filter: '',
  });
  const tables = await client.dump('ip_table_dump', {});
  const indexes = interfaces.map(({ sw_if_index }) => sw_if_index);
  const perFamily = indexes.flatMap((sw_if_index) =>
    [false, true].map((is_ipv6) => ({ sw_if_index, is_ipv6 })),
  );
  const routes = await Promise.all(
    tables.map(({ table }) => client.dump('ip_route_v2_dump', { src: 0, table })),
  );
  const macs = await client.dump('l2_fib_table_dump', { bd_id: ALL });
  return {
    interfaces: interfaces.map((details) => ({
      ...(plain(details) as object),
      l2_address: comparableMac(details.l2_address),
    })),
    addresses: sorted(
      (await Promise.all(perFamily.map((key) => client.dump('ip_address_dump', key)))).flat(),
    ),
    bound: await Promise.all(
      perFamily.map(async (key) => ({
        ...key,
        to: (await client.request('sw_interface_get_table', key)).vrf_id,
      })),
    ),
    unnumbered: sorted(await client.dump('ip_unnumbered_dump', each)),
    queues: sorted(await client.dump('sw_interface_rx_placement_dump', each)),
    tables: sorted(tables),
    routes: sorted(
      routes
        .flat()
        .filter(({ route }) => route.src !== RECURSIVE_RESOLUTION)
        .map(({ route: { stats_index: _, paths, ...route } }) => ({
          ...route,
          paths: sorted(paths),
        })),
    ),
    neighbors: sorted(
      (await Promise.all([0, 1].map((af) => client.dump('ip_neighbor_dump', { ...each, af }))))
        .flat()
        .map(({ neighbor }) => neighbor),
    ),
    aging: await Promise.all([0, 1].map((af) => client.request('ip_neighbor_config_get', { af }))),
    domains: sorted(
      (await client.dump('bridge_domain_dump', { ...each, bd_id: ALL })).map((domain) => ({
        ...domain,
        // VPP leaves `context` of a member uninitialized
        sw_if_details: sorted(domain.sw_if_details.map((member) => ({ ...member, context: 0 }))),
      })),
    ),
    // the others are learned from traffic, and age out
    macs: sorted(
      macs
        .filter(({ static_mac }) => static_mac)
        .map((entry) => ({ ...entry, mac: comparableMac(entry.mac) })),
    ),
    arpTermination: sorted(await client.dump('bd_ip_mac_dump', { bd_id: ALL })),
    crossConnects: sorted(await client.dump('l2_xconnect_dump', {})),
    vxlans: sorted(await client.dump('vxlan_tunnel_v2_dump', each)),
    afPackets: sorted(await client.dump('af_packet_dump', {})),
  };
}
