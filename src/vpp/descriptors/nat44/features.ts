import type { RetrieveContext } from '#kvscheduler/api/descriptor.ts';
import type { VppClient } from '../../binapi/api.ts';
import { NatConfigFlags } from '../../binapi/enums.gen.ts';
import { interfaceNames } from '../names-by-index.ts';

/**
 * Role of an interface in NAT44. `output` translates packets that leave, after the routing decision. VPP
 * refuses it together with the other two (-81), which can be combined.
 */
export type Feature = 'in' | 'out' | 'output';

/** Enables or disables a feature of an interface. */
export function setFeature(
  client: VppClient,
  sw_if_index: number,
  feature: Feature,
  is_add: boolean,
): Promise<unknown> {
  if (feature === 'output') {
    return client.request('nat44_ed_add_del_output_interface', { is_add, sw_if_index });
  }
  const flags = feature === 'in' ? NatConfigFlags.NAT_IS_INSIDE : NatConfigFlags.NAT_IS_OUTSIDE;
  return client.request('nat44_interface_add_del_feature', { is_add, flags, sw_if_index });
}

/** Claims of a feature on an interface: `output` replaces both others. */
export function featureClaims(iface: string, feature: Feature): readonly string[] {
  const sides = feature === 'output' ? ['in', 'out'] : [feature];
  return sides.map((side) => `nat44-feature/${iface}/${side}`);
}

/** Enabled features by name of the interface; only of managed interfaces. */
export async function readFeatures(
  client: VppClient,
  ctx: RetrieveContext,
): Promise<ReadonlyMap<string, readonly Feature[]>> {
  const [sides, outputs] = await Promise.all([
    client.dump('nat44_interface_dump', {}),
    client.dump('nat44_ed_output_interface_get', {}),
  ]);
  const names = interfaceNames(ctx);
  const features = new Map<string, readonly Feature[]>();
  for (const { sw_if_index, flags } of sides) {
    const name = names.get(sw_if_index);
    if (name === undefined) continue;
    const on: Feature[] = [];
    if (flags & NatConfigFlags.NAT_IS_INSIDE) on.push('in');
    if (flags & NatConfigFlags.NAT_IS_OUTSIDE) on.push('out');
    features.set(name, on);
  }
  for (const { sw_if_index } of outputs) {
    const name = names.get(sw_if_index);
    if (name !== undefined) features.set(name, ['output']);
  }
  return features;
}
