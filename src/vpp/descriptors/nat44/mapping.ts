/** One mapping of a DNAT: its identity in VPP, and its conversion to messages. */
import type {
  DNat44,
  DNat44IdentityMapping,
  DNat44Protocol,
  DNat44StaticMapping,
  DNat44StaticMappingLocalIP,
} from '#models/vpp/dnat44.ts';
import { bytesOfAddress } from '../../binapi/addresses.ts';
import { NatConfigFlags } from '../../binapi/enums.gen.ts';
import type {
  Nat44AddDelIdentityMapping,
  Nat44AddDelLbStaticMapping,
  Nat44AddDelStaticMappingV2,
  Nat44LbAddrPort,
} from '../../binapi/messages.gen.ts';
import { NONE } from '../limits.ts';

const protocolNumbers: Readonly<Record<DNat44Protocol, number>> = { TCP: 6, UDP: 17, ICMP: 1 };

/** VPP counts backends, and the sum of their shares, in one byte; it crashes with 256 of either. */
export const MAX_BACKENDS = 255;

const noAddress = new Uint8Array(4);

export function protocolName(protocol: number): DNat44Protocol {
  if (protocol === protocolNumbers.UDP) return 'UDP';
  return protocol === protocolNumbers.ICMP ? 'ICMP' : 'TCP';
}

/** VPP treats "no table" as its inside table in one place and creates a table of that ID in others. */
function table(vrf: number): number {
  return vrf === NONE ? 0 : vrf;
}

export function isBalanced(mapping: DNat44StaticMapping): boolean {
  return mapping.local_ips.length > 1;
}

/** Whether whole addresses are mapped, each protocol and port to the same one. */
export function isAddressOnly(mapping: DNat44StaticMapping): boolean {
  if (isBalanced(mapping)) return false;
  return mapping.external_port === 0 || mapping.local_ips[0]?.local_port === 0;
}

/** The external address, port and protocol: VPP has one mapping for each. */
export function externalEnd(mapping: DNat44StaticMapping): string {
  const address = mapping.external_ip || `interface ${mapping.external_interface}`;
  if (isAddressOnly(mapping)) return `${address}/0/0`;
  return `${address}/${mapping.external_port}/${protocolNumbers[mapping.protocol]}`;
}

/** The same for an identity, which each table has its own of. Without a port the protocol is ignored. */
export function identityEnd(mapping: DNat44IdentityMapping): string {
  const address = mapping.ip_address || `interface ${mapping.interface}`;
  const protocol = mapping.port === 0 ? 0 : protocolNumbers[mapping.protocol];
  return `${address}/${mapping.port}/${protocol}/${table(mapping.vrf_id)}`;
}

export function backendEnd(local: DNat44StaticMappingLocalIP): string {
  return `${local.local_ip}:${local.local_port}/${table(local.vrf_id)}`;
}

/** Shares as VPP accepts them, by backend and in the order of the backends. */
export function sharesOf(mapping: DNat44StaticMapping): ReadonlyMap<string, number> {
  const shares = shareList(mapping);
  return new Map(mapping.local_ips.map((local, at) => [backendEnd(local), shares[at]!]));
}

/** In the order of the backends. The sum must fit in a byte, and must not be 0: VPP divides by it. */
function shareList({ local_ips: locals }: DNat44StaticMapping): number[] {
  const sum = locals.reduce((all, { probability }) => all + probability, 0);
  const share = (probability: number): number => {
    if (sum === 0) return 1;
    if (sum <= MAX_BACKENDS || probability === 0) return probability;
    return 1 + Math.floor(((MAX_BACKENDS - locals.length) * probability) / sum);
  };
  return locals.map(({ probability }) => share(probability));
}

/** Whether the backends are the same and in the same order. */
function hasEqualBackends(a: DNat44StaticMapping, b: DNat44StaticMapping): boolean {
  return (
    a.local_ips.length === b.local_ips.length &&
    a.local_ips.every((one, at) => {
      const other = b.local_ips[at]!;
      return (
        one.local_ip === other.local_ip &&
        one.local_port === other.local_port &&
        one.probability === other.probability &&
        table(one.vrf_id) === table(other.vrf_id)
      );
    })
  );
}

/** Whether two mappings of one external end are the same to VPP. */
export function sameMapping(a: DNat44StaticMapping, b: DNat44StaticMapping): boolean {
  if (a === b) return true;
  if (isBalanced(a) !== isBalanced(b) || isAddressOnly(a) !== isAddressOnly(b)) return false;
  if (a.twice_nat !== b.twice_nat) return false;
  if (isBalanced(a)) {
    if (a.session_affinity !== b.session_affinity) return false;
    // spares the comparison in any order, which is expensive
    if (hasEqualBackends(a, b)) return true;
    const [left, right] = [sharesOf(a), sharesOf(b)];
    return left.size === right.size && [...left].every(([end, share]) => right.get(end) === share);
  }
  // VPP stores no affinity for a single backend
  const [one, other] = [a.local_ips[0], b.local_ips[0]];
  if (one === undefined || other === undefined) return one === other;
  return (
    a.twice_nat_pool_ip === b.twice_nat_pool_ip &&
    one.local_ip === other.local_ip &&
    table(one.vrf_id) === table(other.vrf_id) &&
    (isAddressOnly(a) || one.local_port === other.local_port)
  );
}

/** Whether a change from one to the other sends no request. */
export function sameDnat(a: DNat44, b: DNat44): boolean {
  if (a.st_mappings.length !== b.st_mappings.length) return false;
  if (a.id_mappings.length !== b.id_mappings.length) return false;
  const mappings = new Map(b.st_mappings.map((mapping) => [externalEnd(mapping), mapping]));
  const identities = new Set(b.id_mappings.map(identityEnd));
  return (
    a.id_mappings.every((mapping) => identities.has(identityEnd(mapping))) &&
    a.st_mappings.every((mapping) => {
      const other = mappings.get(externalEnd(mapping));
      return other !== undefined && sameMapping(mapping, other);
    })
  );
}

const twiceNatFlags: Readonly<Record<DNat44StaticMapping['twice_nat'], number>> = {
  DISABLED: 0,
  ENABLED: NatConfigFlags.NAT_IS_TWICE_NAT,
  SELF: NatConfigFlags.NAT_IS_SELF_TWICE_NAT,
};

function flagsOf(mapping: DNat44StaticMapping): number {
  const twice = twiceNatFlags[mapping.twice_nat];
  const isWithoutPort = isAddressOnly(mapping) ? NatConfigFlags.NAT_IS_ADDR_ONLY : 0;
  // connections that a backend opens must not get the service's address
  return NatConfigFlags.NAT_IS_OUT2IN_ONLY | twice | isWithoutPort;
}

/**
 * The message that adds it.
 * @param interfaceIndex of the external interface, if any
 */
export function toStatic(
  mapping: DNat44StaticMapping,
  interfaceIndex: number | undefined,
  tag: string,
): Nat44AddDelStaticMappingV2 {
  const [local] = mapping.local_ips;
  const address = (text: string | undefined) => (text ? bytesOfAddress(text) : noAddress);
  const isWithoutPort = isAddressOnly(mapping);
  return {
    is_add: true,
    match_pool: mapping.twice_nat_pool_ip !== '',
    flags: flagsOf(mapping),
    pool_ip_address: address(mapping.twice_nat_pool_ip),
    local_ip_address: address(local?.local_ip),
    external_ip_address: address(mapping.external_ip),
    protocol: isWithoutPort ? 0 : protocolNumbers[mapping.protocol],
    local_port: isWithoutPort ? 0 : (local?.local_port ?? 0),
    external_port: isWithoutPort ? 0 : mapping.external_port,
    external_sw_if_index: interfaceIndex ?? NONE,
    vrf_id: table(local?.vrf_id ?? 0),
    tag,
  };
}

/** @param share from `sharesOf` */
export function toLocal(local: DNat44StaticMappingLocalIP, share: number): Nat44LbAddrPort {
  return {
    addr: bytesOfAddress(local.local_ip),
    port: local.local_port,
    probability: share,
    vrf_id: table(local.vrf_id),
  };
}

/** The external end of a mapping of several backends. */
export function balancedEnd(
  mapping: DNat44StaticMapping,
): Pick<Nat44AddDelLbStaticMapping, 'external_addr' | 'external_port' | 'protocol'> {
  return {
    external_addr: bytesOfAddress(mapping.external_ip),
    external_port: mapping.external_port,
    protocol: protocolNumbers[mapping.protocol],
  };
}

/** The message that adds it. */
export function toBalanced(mapping: DNat44StaticMapping, tag: string): Nat44AddDelLbStaticMapping {
  const shares = shareList(mapping);
  return {
    is_add: true,
    flags: flagsOf(mapping),
    ...balancedEnd(mapping),
    affinity: mapping.session_affinity,
    tag,
    locals: mapping.local_ips.map((local, at) => toLocal(local, shares[at]!)),
  };
}

/** The message that adds it. */
export function toIdentity(
  mapping: DNat44IdentityMapping,
  interfaceIndex: number | undefined,
  tag: string,
): Nat44AddDelIdentityMapping {
  const isWithoutPort = mapping.port === 0;
  return {
    is_add: true,
    flags: isWithoutPort ? NatConfigFlags.NAT_IS_ADDR_ONLY : 0,
    ip_address: mapping.ip_address === '' ? noAddress : bytesOfAddress(mapping.ip_address),
    protocol: isWithoutPort ? 0 : protocolNumbers[mapping.protocol],
    port: mapping.port,
    sw_if_index: interfaceIndex ?? NONE,
    vrf_id: table(mapping.vrf_id),
    tag,
  };
}
