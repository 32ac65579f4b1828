import { familyOf } from '#models/ip.ts';
import { type VppRouteType, vppRouteModel } from '#models/vpp/route.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { anyAddress } from './node-input.ts';

/** A route that looks the packet up in another VRF. */
export function interVrfRoute(destination: string, vrf: number, viaVrf: number): KeyValue {
  return lookupRoute('INTER_VRF', destination, vrf, viaVrf);
}

/** A route that looks the source of the packet up in another VRF. */
export function sourceRoute(destination: string, vrf: number, viaVrf: number): KeyValue {
  return lookupRoute('SOURCE_VRF', destination, vrf, viaVrf);
}

function lookupRoute(
  type: VppRouteType,
  ...[dst_network, vrf_id, via_vrf_id]: Parameters<typeof interVrfRoute>
): KeyValue {
  const next_hop_addr = anyAddress(familyOf(dst_network) ?? 4);
  return keyValue(vppRouteModel, { type, vrf_id, via_vrf_id, dst_network, next_hop_addr });
}
