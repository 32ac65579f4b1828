import { familyOf } from '#models/ip.ts';
import { vppRouteModel } from '#models/vpp/route.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { anyAddress } from './node-input.ts';

/** Drops packets to a network that no more specific route of the VRF leads on. */
export function dropRoute(destination: string, vrf: number): KeyValue {
  return keyValue(vppRouteModel, {
    type: 'DROP',
    vrf_id: vrf,
    dst_network: destination,
    next_hop_addr: anyAddress(familyOf(destination) ?? 4),
  });
}
