import { bytesOfAddress, textOfBytes } from '../../binapi/addresses.ts';
import type { VppClient } from '../../binapi/api.ts';
import { NatConfigFlags } from '../../binapi/enums.gen.ts';

/** One address of a pool. VPP has two pools: one for sources, one for twice-NAT. */
export interface NatAddress {
  readonly address: string;
  /** 4294967295 is any table. */
  readonly vrf: number;
  readonly twiceNat: boolean;
}

export function setAddress(
  client: VppClient,
  { address, vrf, twiceNat }: NatAddress,
  is_add: boolean,
): Promise<unknown> {
  const bytes = bytesOfAddress(address);
  return client.request('nat44_add_del_address_range', {
    first_ip_address: bytes,
    last_ip_address: bytes,
    vrf_id: vrf,
    is_add,
    flags: twiceNat ? NatConfigFlags.NAT_IS_TWICE_NAT : 0,
  });
}

/** A pool contains an address once, whatever its table. */
export function addressClaim({ address, twiceNat }: Omit<NatAddress, 'vrf'>): string {
  return `nat44-address/${address}/${twiceNat ? 'twice-nat' : 'source'}`;
}

export async function readAddresses(client: VppClient): Promise<readonly NatAddress[]> {
  const found = await client.dump('nat44_address_dump', {});
  return found.map(({ ip_address, vrf_id, flags }) => ({
    address: textOfBytes(ip_address),
    vrf: vrf_id,
    twiceNat: (flags & NatConfigFlags.NAT_IS_TWICE_NAT) !== 0,
  }));
}

/** An IPv4 address as a number, for counting. */
export function numberOf(address: string): number {
  return Buffer.from(bytesOfAddress(address)).readUInt32BE();
}

export function addressAt(position: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(position);
  return textOfBytes(bytes);
}
