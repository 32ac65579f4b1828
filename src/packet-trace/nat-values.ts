/** The NAT44 of a node from configured values. */
import { formatIp, parseIp } from '#models/ip.ts';
import { type DNat44, type DNat44StaticMapping, dnat44Model } from '#models/vpp/dnat44.ts';
import { type Nat44AddressPool, nat44AddressPoolModel } from '#models/vpp/nat44-address-pool.ts';
import { type Nat44Global, nat44GlobalModel } from '#models/vpp/nat44-global.ts';
import { type Nat44Interface, nat44InterfaceModel } from '#models/vpp/nat44-interface.ts';
import type { NatConfig, NatFeature, NatMapping, NatPoolAddress } from './nat-config.ts';
import { valuesOf } from './values.ts';

/** "Any table" in the models. */
const ANY_TABLE = 0xffff_ffff;

/** CIDRs of an interface. */
type AddressesOf = (interfaceName: string) => readonly string[];

/** @returns undefined if NAT44 is not enabled */
export function natOfValues(
  all: ReadonlyMap<string, unknown>,
  addressesOf: AddressesOf,
): NatConfig | undefined {
  const [global] = valuesOf<Nat44Global>(nat44GlobalModel, all);
  if (global === undefined) return undefined;
  const [globalKey, { forwarding, nat_interfaces, address_pool }] = global;
  const pools = [...valuesOf<Nat44AddressPool>(nat44AddressPoolModel, all)];
  const pool = (isTwice: boolean): readonly NatPoolAddress[] => [
    ...address_pool
      .filter(({ twice_nat }) => twice_nat === isTwice)
      .map(({ address, vrf_id }) => poolAddress(globalKey, address, vrf_id)),
    ...pools
      .filter(([, { twice_nat }]) => twice_nat === isTwice)
      .flatMap(([key, one]) => range(one).map((address) => poolAddress(key, address, one.vrf_id))),
  ];
  const dnats = [...valuesOf<DNat44>(dnat44Model, all)];
  return {
    forwarding,
    features: [
      ...nat_interfaces.map(
        (one): NatFeature => ({
          interface: one.name,
          side: one.output_feature ? 'output' : one.is_inside ? 'in' : 'out',
        }),
      ),
      ...[...valuesOf<Nat44Interface>(nat44InterfaceModel, all).values()].flatMap(featuresOf),
    ],
    mappings: dnats.flatMap(([key, { label, st_mappings }]) =>
      st_mappings.flatMap((one) =>
        firstOf(one.external_ip, one.external_interface, addressesOf).map((address) =>
          mappingOf({ key, label, address }, one),
        ),
      ),
    ),
    identities: dnats.flatMap(([key, { label, id_mappings }]) =>
      id_mappings.flatMap((one) =>
        firstOf(one.ip_address, one.interface, addressesOf).map((address) => {
          const { protocol, port } = one;
          return { key, label, address, protocol, port, table: tableOf(one.vrf_id) ?? 0 };
        }),
      ),
    ),
    pool: pool(false),
    twiceNatPool: pool(true),
  };
}

function featuresOf({
  name,
  nat_inside,
  nat_outside,
  output_feature,
  output_only,
  classify,
}: Nat44Interface): readonly NatFeature[] {
  const features: NatFeature[] = [];
  if (nat_inside) features.push({ interface: name, side: 'in' });
  if (nat_outside) features.push({ interface: name, side: 'out' });
  if (classify) features.push({ interface: name, side: 'classify' });
  if (output_feature)
    features.push({ interface: name, side: output_only ? 'output-only' : 'output' });
  return features;
}

/** The address, or the first one of the interface, if it has one. */
function firstOf(
  address: string,
  interfaceName: string,
  addressesOf: AddressesOf,
): readonly string[] {
  if (address !== '') return [address];
  const found = addressesOf(interfaceName).find((cidr) => !cidr.includes(':'));
  return found === undefined ? [] : [found.replace(/\/.*/, '')];
}

function mappingOf(
  of: Pick<NatMapping, 'key' | 'label' | 'address'>,
  one: DNat44StaticMapping,
): NatMapping {
  const isForAllPorts =
    one.local_ips.length < 2 && (one.external_port === 0 || one.local_ips[0]?.local_port === 0);
  return {
    ...of,
    protocol: one.protocol,
    port: isForAllPorts ? 0 : one.external_port,
    backends: one.local_ips.map((local) => ({
      address: local.local_ip,
      port: isForAllPorts ? 0 : local.local_port,
      table: tableOf(local.vrf_id) ?? 0,
      weight: local.probability,
    })),
    twiceNat: one.twice_nat,
    twiceNatAddress: one.twice_nat_pool_ip,
    affinity: one.session_affinity,
    // as the descriptor configures all mappings
    isOut2inOnly: true,
  };
}

function poolAddress(key: string, address: string, vrf: number): NatPoolAddress {
  return { key, address, table: tableOf(vrf) };
}

function tableOf(vrf: number): number | undefined {
  return vrf === ANY_TABLE ? undefined : vrf;
}

function range({ first_ip, last_ip }: Nat44AddressPool): readonly string[] {
  const [first, last] = [numberOf(first_ip), numberOf(last_ip || first_ip)];
  if (first === undefined || last === undefined) return [];
  const addresses: string[] = [];
  for (let at = first; at <= last; at++) {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(at);
    addresses.push(formatIp(bytes));
  }
  return addresses;
}

function numberOf(address: string): number | undefined {
  const bytes = parseIp(address);
  return bytes?.length === 4 ? Buffer.from(bytes).readUInt32BE() : undefined;
}
