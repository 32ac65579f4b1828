import { ipAddressRule, networkCidrRule, orAllocated } from '../address-rules.ts';
import { defineModel } from '../define.ts';
import { interfaceNameRule } from '../interface-name.ts';
import { cleanKey } from '../key-template.ts';
import { Route } from './l3.gen.ts';

export type { Route as VppRoute, RouteRouteType as VppRouteType } from './l3.gen.ts';

/** Parts of the key of a route; omitted parts are empty. */
export interface VppRouteKeyParts {
  readonly outgoingInterface: string;
  readonly vrf: number;
  /** `10.1.1.0/24` */
  readonly destination: string;
  readonly nextHop: string;
}

const PREFIX = 'config/vpp/v2/route/';
const FORM = /^(?:if\/(.+)\/)?vrf\/(\d+)\/dst\/(.+?)(?:\/gw\/(.+))?$/;

/** `[if/{out}/]vrf/{id}/dst/{ip}/{len}[/gw/{nh}]`; parts in brackets are omitted if empty. */
export const vppRouteKey = {
  build(parts: VppRouteKeyParts): string {
    const out = parts.outgoingInterface === '' ? '' : `if/${parts.outgoingInterface}/`;
    const gateway = parts.nextHop === '' ? '' : `/gw/${parts.nextHop}`;
    return cleanKey(`${PREFIX}${out}vrf/${parts.vrf}/dst/${parts.destination}${gateway}`);
  },
  parse(key: string): VppRouteKeyParts | undefined {
    const found = key.startsWith(PREFIX) ? FORM.exec(key.slice(PREFIX.length)) : null;
    if (found === null) return undefined;
    const [, outgoingInterface = '', vrf, destination = '', nextHop = ''] = found;
    return { outgoingInterface, vrf: Number(vrf), destination, nextHop };
  },
};

export const vppRouteModel = defineModel<Route>({
  message: Route,
  keyPrefix: PREFIX,
  key: (route) =>
    vppRouteKey.build({
      outgoingInterface: route.outgoing_interface,
      vrf: route.vrf_id,
      destination: route.dst_network,
      nextHop: route.next_hop_addr,
    }),
  rules: {
    dst_network: orAllocated(networkCidrRule),
    next_hop_addr: orAllocated(ipAddressRule),
    outgoing_interface: interfaceNameRule,
  },
});
