import { vppRouteModel } from '#models/vpp/route.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import { POD_REPLIES_TABLE, VRF_LINK_TABLE } from '#plugins/ipv4net/api.ts';

/** All networks, more specific than a default route. */
const halves = ['0.0.0.0/1', '128.0.0.0/1'] as const;

/**
 * While a pod of this node answers clients outside with their own addresses, what leaves the pods is routed by its
 * source behind the link of the VRFs: NAT44 has given a reply the address that the client has asked, which may be one of the host.
 */
export function repliesByHost(): KeyValue[] {
  return halves.map((dst_network) =>
    keyValue(vppRouteModel, {
      type: 'SOURCE_VRF',
      vrf_id: VRF_LINK_TABLE,
      via_vrf_id: POD_REPLIES_TABLE,
      dst_network,
    }),
  );
}
