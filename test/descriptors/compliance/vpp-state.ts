import { textOfBytes } from '#vpp/binapi/addresses.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { UNUSED_ADDRESS } from '#vpp/descriptors/cnat/source-nat-policy.ts';
import { PAUSED_SECONDS } from '#vpp/descriptors/flows/exporter.ts';
import { readTableLimits } from '#vpp/descriptors/nat44/table-limits.ts';

const ALL = 0xffff_ffff;
const LOCAL0 = 0;

/** Everything of VPP that the descriptors can change. */
export async function vppState(client: VppClient): Promise<unknown> {
  const index = { sw_if_index: ALL };
  const interfaces = await client.dump('sw_interface_dump', {
    ...index,
    name_filter_valid: false,
    name_filter: '',
  });
  const tables = await client.dump('ip_table_dump', {});
  const domains = await client.dump('bridge_domain_dump', { ...index, bd_id: ALL });
  const sources = await client.dump('fib_source_dump', {});
  const api = sources.find(({ src }) => src.name === 'API')?.src.id ?? 0;
  return {
    interfaces,
    addresses: await Promise.all(
      interfaces.flatMap(({ sw_if_index }) =>
        [false, true].map((is_ipv6) => client.dump('ip_address_dump', { sw_if_index, is_ipv6 })),
      ),
    ),
    bound: await Promise.all(
      interfaces.flatMap(({ sw_if_index }) =>
        [false, true].map((is_ipv6) =>
          client.request('sw_interface_get_table', { sw_if_index, is_ipv6 }),
        ),
      ),
    ),
    unnumbered: await client.dump('ip_unnumbered_dump', index),
    segmenting: await segmentingInterfaces(client, interfaces),
    policers: await policers(client),
    policed: await policedInterfaces(client, interfaces),
    queues: await client.dump('sw_interface_rx_placement_dump', index),
    tables,
    routes: (
      await Promise.all(
        tables.map(({ table }) => client.dump('ip_route_v2_dump', { src: api, table })),
      )
    ).map((routes) => routes.map(({ route }) => ({ ...route, stats_index: 0 }))),
    neighbors: await Promise.all(
      [0, 1].map(async (af) => {
        const found = await client.dump('ip_neighbor_dump', { ...index, af });
        return found.map(({ neighbor }) => neighbor);
      }),
    ),
    aging: await Promise.all([0, 1].map((af) => client.request('ip_neighbor_config_get', { af }))),
    domains: domains.map((domain) => ({
      ...domain,
      // VPP leaves `context` of a member uninitialized
      sw_if_details: domain.sw_if_details.map((member) => ({ ...member, context: 0 })),
    })),
    fib: await Promise.all(domains.map(({ bd_id }) => client.dump('l2_fib_table_dump', { bd_id }))),
    memifs: await client.dump('memif_dump', {}),
    memifSockets: (await client.dump('memif_socket_filename_dump', {})).toSorted(
      (a, b) => a.socket_id - b.socket_id,
    ),
    dhcpClients: (await client.dump('dhcp_client_dump', {})).map((each) => each.client),
    crossConnects: await client.dump('l2_xconnect_dump', {}),
    proxyArp: await client.dump('proxy_arp_dump', {}),
    proxyArpInterfaces: await client.dump('proxy_arp_intfc_dump', {}),
    arpTermination: await client.dump('bd_ip_mac_dump', { bd_id: ALL }),
    nat44: await nat44World(client),
    cnat: await translations(client),
    sourceNat: await sourceNat(client, interfaces),
    stn: await client.dump('stn_rules_dump', {}),
    sockets: sorted(await client.dump('punt_socket_dump', { type: 0 })),
    redirects: await Promise.all(
      [0, 1].map((af) => client.dump('ip_punt_redirect_v2_dump', { ...index, af })),
    ),
    acls: await client.dump('acl_dump', { acl_index: ALL }),
    flowExporter: await flowExporter(client),
    flowProbes: await flowProbes(client),
    wireguards: await client.dump('wireguard_interface_dump', {
      ...index,
      show_private_key: false,
    }),
    wireguardPeers: await wireguardPeers(client),
    aclBindings: await client.dump('acl_interface_list_dump', index),
  };
}

/** A paused exporter exports nothing, as one that was never configured; the parameters of flowprobe never change. */
async function flowExporter(client: VppClient): Promise<readonly object[]> {
  const found = await client.dump('ipfix_exporter_dump', {});
  return found.filter(({ template_interval: seconds }) => seconds > 0 && seconds < PAUSED_SECONDS);
}

/** Without that of local0, which stays. */
async function flowProbes(client: VppClient): Promise<readonly object[]> {
  const found = await client.dump('flowprobe_interface_dump', {});
  return found.filter(({ sw_if_index }) => sw_if_index !== LOCAL0);
}

/** Whether there are sessions is a matter of the other ends. */
export async function wireguardPeers(client: VppClient): Promise<readonly object[]> {
  const found = await client.dump('wireguard_peers_dump', { peer_index: ALL });
  return found.map(({ peer }) => ({ ...peer, flags: 0 }));
}

interface Indexed {
  readonly sw_if_index: number;
}

/**
 * Interfaces with the feature; of an interface without any feature, VPP reports all as enabled. Releases before v25.10
 * report none.
 */
async function interfacesWith(
  client: VppClient,
  interfaces: readonly Indexed[],
  { arc, node, end }: { readonly arc: string; readonly node: string; readonly end: string },
): Promise<readonly Indexed[]> {
  if (!client.has('feature_is_enabled')) return [];
  const isEnabled = async (feature_name: string, sw_if_index: number): Promise<boolean> => {
    const asked = { arc_name: arc, feature_name, sw_if_index };
    return (await client.request('feature_is_enabled', asked)).is_enabled;
  };
  const found: Indexed[] = [];
  for (const { sw_if_index } of interfaces)
    if ((await isEnabled(node, sw_if_index)) && !(await isEnabled(end, sw_if_index)))
      found.push({ sw_if_index });
  return found;
}

/** Interfaces on which VPP segments. */
export function segmentingInterfaces(
  client: VppClient,
  interfaces: readonly Indexed[],
): Promise<readonly Indexed[]> {
  const feature = { arc: 'ip4-output', node: 'gso-ip4', end: 'interface-output' };
  return interfacesWith(client, interfaces, feature);
}

/** Of cnat. Releases before v26.06 have other ones. */
export async function translations(client: VppClient): Promise<readonly object[]> {
  if (!client.has('cnat_set_snat_addresses_v2')) return [];
  const found = await client.dump('cnat_translation_dump', {});
  return found.map(({ translation }) => translation);
}

/** The source NAT of cnat in table 0, and where it translates. */
async function sourceNat(client: VppClient, interfaces: readonly Indexed[]): Promise<object> {
  if (!client.has('cnat_set_snat_addresses_v2')) return {};
  const feature = { arc: 'ip6-unicast', node: 'cnat-snat-ip6-return', end: 'ip6-lookup' };
  return {
    policies: await sourceNatPolicies(client),
    interfaces: (await interfacesWith(client, interfaces, feature)).map(
      ({ sw_if_index }) => sw_if_index,
    ),
  };
}

/** Addresses of the policies of table 0, without that of the one for counters. */
export async function sourceNatPolicies(client: VppClient): Promise<readonly string[]> {
  const found = await client.dump('cnat_snat_addresses_dump', {});
  return found
    .filter(({ fwd_table_id6 }) => fwd_table_id6 === 0)
    .map(({ snat_ip6 }) => textOfBytes(snat_ip6))
    .filter((address) => address !== UNUSED_ADDRESS);
}

/** Interfaces that have a policer, with its node. */
export async function policedInterfaces(
  client: VppClient,
  interfaces: readonly Indexed[],
): Promise<readonly (Indexed & { readonly node: string })[]> {
  const features = [
    { arc: 'ip4-unicast', node: 'policer-input', end: 'ip4-lookup' },
    { arc: 'ip4-output', node: 'policer-output', end: 'interface-output' },
  ];
  const found = features.map(async (feature) => {
    const policed = await interfacesWith(client, interfaces, feature);
    return policed.map(({ sw_if_index }) => ({ sw_if_index, node: feature.node }));
  });
  return (await Promise.all(found)).flat();
}

/** Without what depends on the clock of the processor and the traffic. */
export async function policers(client: VppClient) {
  const found = await client.dump('policer_dump_v2', { policer_index: ALL });
  return sorted(found.map(({ name, cir, cb, type }) => ({ name, cir, cb: Number(cb), type })));
}

async function nat44World(client: VppClient): Promise<unknown> {
  const { sessions, forwarding_enabled, timeouts } = await client.request(
    'nat44_show_running_config',
    {},
  );
  const balanced = await client.dump('nat44_lb_static_mapping_dump', {});
  const sides = await client.dump('nat44_interface_dump', {});
  const outputs = await client.dump('nat44_ed_output_interface_get', {});
  return {
    sessions,
    forwarding_enabled,
    // VPP keeps those of a disabled plugin until it is enabled again
    ...(sessions > 0 && { timeouts, limits: await sessionLimits(client, sessions) }),
    interfaces: sorted(sides),
    nodes: await inputNodes(client, [...sides, ...outputs]),
    outputs: sorted(outputs),
    addresses: sorted(await client.dump('nat44_address_dump', {})),
    mappings: sorted(await client.dump('nat44_static_mapping_dump', {})),
    balanced: sorted(balanced.map((each) => ({ ...each, locals: sorted(each.locals) }))),
    identities: sorted(await client.dump('nat44_identity_mapping_dump', {})),
  };
}

/** Of the first tables, without those that are the size of the session table, as a removed one is. */
async function sessionLimits(client: VppClient, size: number): Promise<unknown> {
  const first = [0, 1].map((vrf_id) => ({ vrf_id, max_sessions: 0 }));
  const found = await readTableLimits(client, first);
  return found.filter(({ max_sessions }) => max_sessions !== size);
}

export interface InputNode {
  readonly sw_if_index: number;
  readonly feature_name: string;
}

const natNodes = [
  'nat-pre-in2out',
  'nat-pre-out2in',
  'nat44-ed-classify',
  'nat-pre-in2out-output',
  'ip4-sv-reassembly-output-feature',
];

/** Nodes of NAT44 at interfaces; older releases do not report them. */
export async function inputNodes(
  client: VppClient,
  interfaces: readonly { readonly sw_if_index: number }[],
): Promise<readonly InputNode[]> {
  if (!client.has('feature_is_enabled')) return [];
  const found: InputNode[] = [];
  for (const { sw_if_index } of interfaces)
    for (const feature_name of natNodes) {
      const arc_name = feature_name.includes('output') ? 'ip4-output' : 'ip4-unicast';
      const asked = { arc_name, feature_name, sw_if_index };
      const { is_enabled } = await client.request('feature_is_enabled', asked);
      if (is_enabled) found.push({ sw_if_index, feature_name });
    }
  return sorted(found);
}

/** Lists whose order depends only on their history. */
function sorted<T>(values: readonly T[]): readonly T[] {
  const text = (value: T): string => JSON.stringify(value);
  return values.toSorted((a, b) => (text(a) < text(b) ? -1 : 1));
}
