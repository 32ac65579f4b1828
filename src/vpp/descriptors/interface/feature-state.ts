import type { VppClient } from '../../binapi/api.ts';

/** A node that packets of an interface pass only where it is enabled. */
export interface ArcFeature {
  readonly arc: string;
  readonly node: string;
  /** End of the arc: VPP reports it as enabled only where it has no state of the interface at all. */
  readonly end: string;
}

export async function isFeatureEnabled(
  client: VppClient,
  sw_if_index: number,
  { arc, node, end }: ArcFeature,
): Promise<boolean> {
  const [ofNode, ofEnd] = await Promise.all(
    [node, end].map((feature_name) =>
      client.request('feature_is_enabled', { arc_name: arc, feature_name, sw_if_index }),
    ),
  );
  return ofNode!.is_enabled && !ofEnd!.is_enabled;
}
