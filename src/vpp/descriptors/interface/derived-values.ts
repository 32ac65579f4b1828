/** The values that are derived from an interface. */
import { emptyValue } from '#kvscheduler/api/define-descriptor.ts';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import {
  addressSource,
  dhcpClientKey,
  inheritedVrfKey,
  interfaceAddressKey,
  interfaceHasAddressKey,
  interfaceNetworkKey,
  interfaceUpKey,
  interfaceVrfKey,
  rxModesKey,
  rxPlacementKey,
  unnumberedKey,
  vlanUpKey,
} from '#models/vpp/derived.ts';
import { layer3Table, type VppInterface, vppInterfaceModel } from '#models/vpp/interface.ts';
import type { AddressValue } from './address.ts';
import { type Families, interfaceFamilies } from './layer3.ts';
import { networkOf } from './network.ts';

/** Values that accompany the addresses of an interface: VPP shows them together with the addresses only. */
interface Surroundings {
  /** Of the value that binds it to its table. */
  readonly tableKey: string | undefined;
  /** The networks that it occupies. */
  readonly networks: ReadonlySet<string>;
}

/** @param surroundings default: those of the addresses of the value */
export function derivedValues(
  value: VppInterface,
  { tableKey, networks }: Surroundings = surroundingsOf(value),
): readonly KeyedValue[] {
  const iface = value.name;
  const vrf = layer3Table(value);
  const values: KeyedValue[] = [];
  if (value.enabled) {
    const upKey = value.type === 'SUB_INTERFACE' ? vlanUpKey : interfaceUpKey;
    values.push({ key: upKey.build({ iface }), value: emptyValue });
  }
  if (value.unnumbered !== undefined)
    values.push({ key: unnumberedKey.build({ iface }), value: value.unnumbered });
  if (tableKey !== undefined) values.push({ key: tableKey, value: emptyValue });
  for (const network of networks) {
    values.push({ key: interfaceNetworkKey.build({ iface, vrf, network }), value: emptyValue });
  }
  for (const address of new Set(value.ip_addresses)) {
    const source = addressSource(address);
    values.push({
      key: interfaceAddressKey.build({ iface, source, address }),
      value: { vrf } satisfies AddressValue,
    });
  }
  if (value.set_dhcp_client)
    values.push({ key: dhcpClientKey.build({ iface }), value: emptyValue });
  if (value.ip_addresses.length > 0) {
    values.push({ key: interfaceHasAddressKey.build({ iface }), value: emptyValue });
  }
  if (value.rx_modes.length > 0) {
    const { name, type, rx_modes } = value;
    const modes = vppInterfaceModel.canonical({ name, type, rx_modes });
    values.push({ key: rxModesKey.build({ iface }), value: modes });
  }
  for (const placement of value.rx_placements) {
    const { name, type } = value;
    const { queue } = placement;
    values.push({
      key: rxPlacementKey.build({ iface, queue }),
      value: vppInterfaceModel.canonical({ name, type, rx_placements: [placement] }),
    });
  }
  return values;
}

function surroundingsOf(value: VppInterface): Surroundings {
  const networks = value.ip_addresses.map(networkOf).filter((one) => one !== undefined);
  return { tableKey: tableKeyOf(value, interfaceFamilies(value)), networks: new Set(networks) };
}

function tableKeyOf(value: VppInterface, { v4, v6 }: Families): string | undefined {
  const { name: iface, unnumbered } = value;
  const lender = unnumbered?.interface_with_ip;
  if (lender !== undefined) return inheritedVrfKey.build({ iface, lender });
  if (!v4 && !v6) return undefined;
  const version = v4 && v6 ? 'both' : v4 ? 'v4' : 'v6';
  return interfaceVrfKey.build({ iface, vrf: layer3Table(value), version });
}

/**
 * The values that exist with an interface that was read. Table and networks of a pending address exist, too,
 * although VPP shows no address: without them each resync would make them again.
 * @param inTable the families of which it is in the table of the desired addresses
 */
export function existingValues(
  found: VppInterface,
  desired: VppInterface,
  inTable: Families,
  isKnown: (key: string) => boolean,
): readonly KeyedValue[] {
  const shown = interfaceFamilies(found);
  const { networks } = surroundingsOf(found);
  const vrf = layer3Table(found);
  const isSameTable = vrf === layer3Table(desired);
  const pending = [...surroundingsOf(desired).networks].filter(
    (network) =>
      isSameTable && isKnown(interfaceNetworkKey.build({ iface: found.name, vrf, network })),
  );
  const all = { v4: shown.v4 || inTable.v4, v6: shown.v6 || inTable.v6 };
  // a borrower that does not borrow yet is in the table of its lender already
  const isToBorrow = desired.unnumbered !== undefined && !shown.v4 && !shown.v6;
  const isIn = inTable.v4 || inTable.v6;
  return derivedValues(found, {
    tableKey: tableKeyOf(isToBorrow && isIn ? desired : found, isSameTable ? all : shown),
    networks: new Set([...networks, ...pending]),
  });
}
