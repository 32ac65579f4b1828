/** The value of a translation as VPP's message, and back. */
import { type CnatTranslation, cnatTranslationModel } from '#models/vpp/cnat-translation.ts';
import { fromAddress, toAddress } from '../../binapi/addresses.ts';
import type { VppClient } from '../../binapi/api.ts';
import { AddressFamily, CnatLbType, IpFlowHashConfigV2, IpProto } from '../../binapi/enums.gen.ts';
import type { CnatEndpoint, CnatTranslation as Translation } from '../../binapi/messages.gen.ts';
import { NONE } from '../limits.ts';

export const ANY = '::';

const protocolNumbers: Readonly<Record<CnatTranslation['protocol'], number>> = {
  TCP: IpProto.IP_API_PROTO_TCP,
  UDP: IpProto.IP_API_PROTO_UDP,
};

/** Translations of IPv6; none in releases before 26.06, which have the dump, too. */
export async function dumpTranslations(client: VppClient): Promise<readonly Translation[]> {
  if (!client.has('cnat_set_snat_addresses_v2')) return [];
  const found = await client.dump('cnat_translation_dump', {});
  return found.map(({ translation }) => translation);
}

/** It is always interposed (`is_real_ip`): an entry of its own VPP would keep after the last translation of the address. */
export function toTranslation(value: CnatTranslation): Translation {
  const source = endpoint(value.source_ip === '' ? ANY : value.source_ip, 0);
  return {
    vip: endpoint(value.external_ip, value.external_port),
    id: 0,
    ip_proto: protocolNumbers[value.protocol],
    is_real_ip: 1,
    flags: 0,
    // it distributes by a hash of both ends, but for the affinity
    ...(value.client_affinity
      ? {
          lb_type: CnatLbType.CNAT_LB_TYPE_MAGLEV,
          flow_hash_config: IpFlowHashConfigV2.IP_API_V2_FLOW_HASH_SRC_IP,
        }
      : { lb_type: CnatLbType.CNAT_LB_TYPE_DEFAULT, flow_hash_config: 0 }),
    paths: value.backends.map(({ ip_address, port }) => ({
      dst_ep: endpoint(ip_address, port),
      src_ep: source,
      flags: 0,
    })),
  };
}

function endpoint(address: string, port: number): CnatEndpoint {
  return {
    addr: toAddress(address),
    sw_if_index: NONE,
    if_af: AddressFamily.ADDRESS_IP6,
    port,
  };
}

/** The hash is not read back, but only with it the type of the choice is another one. */
export function fromTranslation(found: Translation): CnatTranslation | undefined {
  const { vip, ip_proto, lb_type, paths } = found;
  const protocol = ip_proto === protocolNumbers.TCP ? 'TCP' : 'UDP';
  if (ip_proto !== protocolNumbers[protocol] || vip.sw_if_index !== NONE) return undefined;
  if (vip.addr.af !== AddressFamily.ADDRESS_IP6) return undefined;
  const source = paths[0] === undefined ? ANY : fromAddress(paths[0].src_ep.addr);
  return cnatTranslationModel.canonical({
    external_ip: fromAddress(vip.addr),
    external_port: vip.port,
    protocol,
    source_ip: source === ANY ? '' : source,
    client_affinity: lb_type === CnatLbType.CNAT_LB_TYPE_MAGLEV,
    backends: paths.map(({ dst_ep }) => ({
      ip_address: fromAddress(dst_ep.addr),
      port: dst_ep.port,
    })),
  });
}
