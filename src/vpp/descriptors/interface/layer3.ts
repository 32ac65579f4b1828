/** Reads addresses, tables and lenders of interfaces from VPP. */
import { layer3Table, type VppInterface } from '#models/vpp/interface.ts';
import { fromPrefix } from '../../binapi/addresses.ts';
import type { VppClient } from '../../binapi/api.ts';
import { NONE } from '../limits.ts';

export interface Families {
  readonly v4: boolean;
  readonly v6: boolean;
}

export const noFamilies: Families = { v4: false, v6: false };

export interface Layer3 {
  readonly addresses: readonly string[];
  readonly dhcpClient: boolean;
  /** Undefined if the interface neither has nor is to have an address of the family. */
  readonly table4: number | undefined;
  readonly table6: number | undefined;
}

/**
 * Sends two requests per interface, because VPP has no dump of all addresses, and one more for each
 * family that the interface has or is to have. Most interfaces of a large node, tunnels and pods, have none.
 */
export async function readLayer3(
  client: VppClient,
  swIfIndex: number,
  dhcpClient: boolean,
  wanted = noFamilies,
): Promise<Layer3> {
  const sw_if_index = swIfIndex;
  const found = await Promise.all(
    [false, true].map((is_ipv6) => client.dump('ip_address_dump', { sw_if_index, is_ipv6 })),
  );
  const addresses = found.flat().map(({ prefix }) => fromPrefix(prefix));
  const has = interfaceFamilies({ ip_addresses: addresses, set_dhcp_client: dhcpClient });
  const table = async (is_ipv6: boolean): Promise<number> =>
    (await client.request('sw_interface_get_table', { sw_if_index, is_ipv6 })).vrf_id;
  const [table4, table6] = await Promise.all([
    has.v4 || wanted.v4 ? table(false) : undefined,
    has.v6 || wanted.v6 ? table(true) : undefined,
  ]);
  return { addresses, dhcpClient, table4, table6 };
}

/**
 * Lenders by borrower. In the dump `sw_if_index` is the borrower; in the request that configures it,
 * it is the lender.
 * @param borrower default: all
 */
export async function readLenders(
  client: VppClient,
  borrower = NONE,
): Promise<ReadonlyMap<number, number>> {
  const all = await client.dump('ip_unnumbered_dump', { sw_if_index: borrower });
  return new Map(all.map((each) => [each.sw_if_index, each.ip_sw_if_index]));
}

/** The families of which an interface with this configuration has addresses. */
export function interfaceFamilies(
  value: Pick<VppInterface, 'ip_addresses' | 'set_dhcp_client'>,
): Families {
  return {
    v4: value.set_dhcp_client || value.ip_addresses.some((address) => !address.includes(':')),
    v6: value.ip_addresses.some((address) => address.includes(':')),
  };
}

/**
 * The families of the desired addresses of an interface if it is in their table, whether it has an address or not.
 * @param owner the desired value that names table and addresses: the interface itself, or its lender
 * @returns none if one of the families is not in the table: the interface is bound for all of them at once
 */
export function familiesInTable({ table4, table6 }: Layer3, owner: VppInterface): Families {
  const wanted = interfaceFamilies(owner);
  const table = layer3Table(owner);
  const isIn = (!wanted.v4 || table4 === table) && (!wanted.v6 || table6 === table);
  return isIn ? wanted : noFamilies;
}

/**
 * The single table of the configuration from VPP's two tables. If they differ, the table that is not
 * desired is returned, so that it is corrected. Without an address it is the desired table.
 * @param desired undefined for an interface that is not desired
 */
export function tableOf(found: Layer3, desired: VppInterface | undefined): number {
  const { addresses, dhcpClient } = found;
  const has = interfaceFamilies({ ip_addresses: addresses, set_dhcp_client: dhcpClient });
  const tables = [...(has.v4 ? [found.table4] : []), ...(has.v6 ? [found.table6] : [])];
  const desiredTable = desired?.vrf ?? 0;
  return tables.find((table) => table !== desiredTable) ?? desiredTable;
}
