/** Reads the NAT44 of VPP for packet traces, managed or not. */
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { type DNat44, dnat44Key } from '#models/vpp/dnat44.ts';
import type {
  NatConfig,
  NatFeature,
  NatIdentity,
  NatMapping,
  NatPoolAddress,
} from '#packet-trace/nat-config.ts';
import { textOfBytes } from '#vpp/binapi/addresses.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { NatConfigFlags } from '#vpp/binapi/enums.gen.ts';
import { hasNode, knowsNodes, type NatNode } from '#vpp/descriptors/nat44/interface-nodes.ts';
import { protocolName } from '#vpp/descriptors/nat44/mapping.ts';
import { tagReader } from '#vpp/descriptors/nat44/mapping-tag.ts';
import { readWorkers } from '#vpp/descriptors/nat44/session-settings.ts';

const NONE = 0xffff_ffff;

/** @returns undefined if NAT44 is not enabled */
export async function readNat(
  client: VppClient,
  scheduler: Scheduler,
  nameOf: (swIfIndex: number) => string,
): Promise<NatConfig | undefined> {
  if (!client.has('nat44_show_running_config')) return undefined;
  const { sessions, forwarding_enabled: forwarding } = await client.request(
    'nat44_show_running_config',
    {},
  );
  if (sessions === 0) return undefined;
  const readTag = await tagsOf(scheduler);
  const [features, addresses, mappings, identities] = await Promise.all([
    readFeatures(client, nameOf),
    client.dump('nat44_address_dump', {}),
    readMappings(client, readTag),
    readIdentities(client, readTag),
  ]);
  const pool = (isTwice: boolean): readonly NatPoolAddress[] =>
    addresses
      .filter(({ flags }) => isTwice === ((flags & NatConfigFlags.NAT_IS_TWICE_NAT) !== 0))
      .map(({ ip_address, vrf_id }) => ({
        key: '',
        address: textOfBytes(ip_address),
        table: vrf_id === NONE ? undefined : vrf_id,
      }));
  return {
    forwarding,
    features,
    mappings,
    identities,
    pool: pool(false),
    twiceNatPool: pool(true),
  };
}

interface TagParts {
  readonly of: Pick<NatMapping, 'key' | 'label'>;
  /** A field that VPP does not return. */
  readonly hidden: string;
}

type ReadTag = (tag: string) => TagParts;

/** A long label of a configured DNAT has a digest as its tag. */
async function tagsOf(scheduler: Scheduler): Promise<ReadTag> {
  const values = await scheduler.dump('NB', { descriptor: 'vpp-nat44-dnat' });
  const labels = new Set(values.map(({ Value }) => (Value.value as DNat44).label));
  const readTag = tagReader([...labels]);
  return (tag) => {
    const { label, hidden } = readTag(tag);
    return { of: { label, key: labels.has(label) ? dnat44Key.build({ label }) : '' }, hidden };
  };
}

async function readFeatures(
  client: VppClient,
  nameOf: (swIfIndex: number) => string,
): Promise<readonly NatFeature[]> {
  const [sides, outputs, workers] = await Promise.all([
    client.dump('nat44_interface_dump', {}),
    client.dump('nat44_ed_output_interface_get', {}),
    readWorkers(client),
  ]);
  const [knows, hasWorkers] = [knowsNodes(client), workers.length > 0];
  const inputs = sides.map(async ({ sw_if_index, flags }) => {
    const found: NatFeature[] = [];
    const name = nameOf(sw_if_index);
    const has = async (node: NatNode) =>
      knows && (await hasNode(client, sw_if_index, node, hasWorkers));
    if (flags === NatConfigFlags.NAT_IS_INSIDE && (await has('output')))
      return [{ interface: name, side: 'output-only' as const }];
    if (flags & NatConfigFlags.NAT_IS_INSIDE) found.push({ interface: name, side: 'in' });
    if (flags & NatConfigFlags.NAT_IS_OUTSIDE) found.push({ interface: name, side: 'out' });
    else if (await has('classify')) found.push({ interface: name, side: 'classify' });
    return found;
  });
  return [
    ...(await Promise.all(inputs)).flat(),
    ...outputs.map(({ sw_if_index }) => ({
      interface: nameOf(sw_if_index),
      side: 'output' as const,
    })),
  ];
}

async function readMappings(client: VppClient, readTag: ReadTag): Promise<readonly NatMapping[]> {
  const [statics, balanced] = await Promise.all([
    client.dump('nat44_static_mapping_dump', {}),
    client.dump('nat44_lb_static_mapping_dump', {}),
  ]);
  return [
    // one that is bound to an interface is also listed with the address of the interface
    ...statics
      .filter(({ external_sw_if_index }) => external_sw_if_index === NONE)
      .map((one): NatMapping => {
        const { of, hidden } = readTag(one.tag);
        const isForAllPorts = (one.flags & NatConfigFlags.NAT_IS_ADDR_ONLY) !== 0;
        return {
          ...of,
          ...flagsOf(one.flags),
          protocol: protocolName(one.protocol),
          address: textOfBytes(one.external_ip_address),
          port: isForAllPorts ? 0 : one.external_port,
          backends: [
            {
              address: textOfBytes(one.local_ip_address),
              port: isForAllPorts ? 0 : one.local_port,
              table: one.vrf_id,
              weight: 1,
            },
          ],
          affinity: 0,
          twiceNatAddress: hidden,
        };
      }),
    ...balanced.map((one): NatMapping => {
      const { of, hidden } = readTag(one.tag);
      return {
        ...of,
        ...flagsOf(one.flags),
        protocol: protocolName(one.protocol),
        address: textOfBytes(one.external_addr),
        port: one.external_port,
        backends: one.locals.map(({ addr, port, probability, vrf_id }) => ({
          address: textOfBytes(addr),
          port,
          table: vrf_id,
          weight: probability,
        })),
        affinity: Number(hidden),
        twiceNatAddress: '',
      };
    }),
  ];
}

function flagsOf(flags: number): Pick<NatMapping, 'twiceNat' | 'isOut2inOnly'> {
  const isSelf = (flags & NatConfigFlags.NAT_IS_SELF_TWICE_NAT) !== 0;
  const isAlways = (flags & NatConfigFlags.NAT_IS_TWICE_NAT) !== 0;
  return {
    twiceNat: isAlways ? 'ENABLED' : isSelf ? 'SELF' : 'DISABLED',
    isOut2inOnly: (flags & NatConfigFlags.NAT_IS_OUT2IN_ONLY) !== 0,
  };
}

async function readIdentities(
  client: VppClient,
  readTag: ReadTag,
): Promise<readonly NatIdentity[]> {
  const found = await client.dump('nat44_identity_mapping_dump', {});
  return found
    .filter(({ sw_if_index }) => sw_if_index === NONE)
    .map(({ tag, protocol, ip_address, port, flags, vrf_id }) => ({
      ...readTag(tag).of,
      protocol: protocolName(protocol),
      address: textOfBytes(ip_address),
      port: flags & NatConfigFlags.NAT_IS_ADDR_ONLY ? 0 : port,
      table: vrf_id,
    }));
}
