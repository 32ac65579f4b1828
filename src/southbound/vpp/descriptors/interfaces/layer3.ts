/** Addresses, tables and lenders of interfaces as VPP has them. */
import type { VppInterface } from '#models/vpp/interface.ts';
import { fromPrefix } from '../../binapi/addresses.ts';
import type { VppClient } from '../../binapi/api.ts';
import { none } from '../limits.ts';

export interface BareLayer3 {
  readonly addresses: readonly string[];
  readonly table4: number;
  readonly table6: number;
}

export interface Layer3 extends BareLayer3 {
  readonly dhcpClient: boolean;
}

/** @returns whether it is in a table for a reason that the configuration knows */
export function isBound({ addresses, dhcpClient }: Layer3): boolean {
  return addresses.length > 0 || dhcpClient;
}

/** Four requests an interface, because VPP has no dump of all addresses; they overlap. */
export async function readLayer3(client: VppClient, swIfIndex: number): Promise<BareLayer3> {
  const sw_if_index = swIfIndex;
  const [v4, v6, table4, table6] = await Promise.all([
    client.dump('ip_address_dump', { sw_if_index, is_ipv6: false }),
    client.dump('ip_address_dump', { sw_if_index, is_ipv6: true }),
    client.request('sw_interface_get_table', { sw_if_index, is_ipv6: false }),
    client.request('sw_interface_get_table', { sw_if_index, is_ipv6: true }),
  ]);
  return {
    addresses: [...v4, ...v6].map(({ prefix }) => fromPrefix(prefix)),
    table4: table4.vrf_id,
    table6: table6.vrf_id,
  };
}

/**
 * Borrower to lender. In the dump `sw_if_index` is the borrower, in the request that makes it so
 * it is the lender.
 */
export async function readLenders(client: VppClient): Promise<ReadonlyMap<number, number>> {
  const all = await client.dump('ip_unnumbered_dump', { sw_if_index: none });
  return new Map(all.map((each) => [each.sw_if_index, each.ip_sw_if_index]));
}

/** Which families an interface with this configuration has addresses of. */
export function families(value: Pick<VppInterface, 'ip_addresses' | 'set_dhcp_client'>): {
  readonly v4: boolean;
  readonly v6: boolean;
} {
  return {
    v4: value.set_dhcp_client || value.ip_addresses.some((address) => !address.includes(':')),
    v6: value.ip_addresses.some((address) => address.includes(':')),
  };
}

/**
 * The one table of the configuration out of VPP's two. Where they differ, the one that is not as
 * wanted is told, so that it gets corrected.
 * @param wanted undefined for an interface that nobody wants
 */
export function tableOf(found: Layer3, wanted: VppInterface | undefined): number {
  const { addresses, dhcpClient } = found;
  const has = families({ ip_addresses: addresses, set_dhcp_client: dhcpClient });
  const tables = [
    ...(has.v4 || !has.v6 ? [found.table4] : []),
    ...(has.v6 || !has.v4 ? [found.table6] : []),
  ];
  return tables.find((table) => table !== (wanted?.vrf ?? 0)) ?? wanted?.vrf ?? 0;
}
