import { vppRouteModel } from '#models/vpp/route.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { anyAddress, familyOf } from './node-input.ts';

/** A route that looks the packet up in another VRF. */
export function interVrfRoute(destination: string, vrf: number, viaVrf: number): KeyValue {
  return keyValue(vppRouteModel, {
    type: 'INTER_VRF',
    vrf_id: vrf,
    via_vrf_id: viaVrf,
    dst_network: destination,
    next_hop_addr: anyAddress(familyOf(destination) ?? 4),
  });
}

/** A route that looks the source of the packet up in another VRF. */
export function sourceRoute(destination: string, vrf: number, viaVrf: number): KeyValue {
  return keyValue(vppRouteModel, {
    type: 'SOURCE_VRF',
    vrf_id: vrf,
    via_vrf_id: viaVrf,
    dst_network: destination,
    next_hop_addr: anyAddress(familyOf(destination) ?? 4),
  });
}
