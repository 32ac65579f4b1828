/** DHCP clients and what they got, as VPP has them. */
import { fromAddress, fromMac } from '../../binapi/addresses.ts';
import type { VppClient } from '../../binapi/api.ts';
import { AddressFamily } from '../../binapi/enums.gen.ts';
import type { Address, DhcpLease } from '../../binapi/messages.gen.ts';

export interface FoundLease {
  readonly hostName: string;
  readonly mac: string;
  /** With mask length. */
  readonly address: string;
  /** With the same; empty when the server named none. */
  readonly router: string;
}

/**
 * Clients by interface; undefined while one has no lease. Its state does not tell: VPP says bound
 * before it has put the address onto the interface.
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

/** VPP's client knows IPv4 alone and leaves the family unset. */
function v4({ un }: Address): string | undefined {
  const text = fromAddress({ af: AddressFamily.ADDRESS_IP4, un });
  return text === '0.0.0.0' ? undefined : text;
}
