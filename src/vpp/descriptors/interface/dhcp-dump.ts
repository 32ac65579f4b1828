/** Reads DHCP clients and their leases from VPP. */
import { fromAddress, fromMac } from '../../binapi/addresses.ts';
import type { VppClient } from '../../binapi/api.ts';
import { AddressFamily } from '../../binapi/enums.gen.ts';
import type { Address, DhcpLease } from '../../binapi/messages.gen.ts';

export interface FoundLease {
  readonly hostName: string;
  readonly mac: string;
  /** With prefix length. */
  readonly address: string;
  /** With prefix length; empty if the server set none. */
  readonly router: string;
}

/**
 * Leases of the clients by sw_if_index; undefined while a client has none. The client's state is not
 * enough: VPP reports it as bound before it sets the address.
 */
export async function readDhcpClients(
  client: VppClient,
): Promise<ReadonlyMap<number, FoundLease | undefined>> {
  if (!client.has('dhcp_client_dump')) return new Map();
  const found = await client.dump('dhcp_client_dump', {});
  return new Map(found.map((each) => [each.client.sw_if_index, leaseOf(each.lease)]));
}

function leaseOf(lease: DhcpLease): FoundLease | undefined {
  const address = v4(lease.host_address);
  if (address === undefined) return undefined;
  const router = v4(lease.router_address);
  return {
    hostName: lease.hostname,
    mac: fromMac(lease.host_mac),
    address: `${address}/${lease.mask_width}`,
    router: router === undefined ? '' : `${router}/${lease.mask_width}`,
  };
}

/** VPP's client supports only IPv4 and leaves the family unset. */
function v4({ un }: Address): string | undefined {
  const text = fromAddress({ af: AddressFamily.ADDRESS_IP4, un });
  return text === '0.0.0.0' ? undefined : text;
}
