import type { VppClient } from '#vpp/binapi/api.ts';

/** The name that VPP has given to an interface, for its CLI. */
export async function vppName(
  client: VppClient,
  swIfIndex: number | undefined,
): Promise<string | undefined> {
  if (swIfIndex === undefined) return undefined;
  const [found] = await client.dump('sw_interface_dump', {
    sw_if_index: swIfIndex,
    name_filter_valid: false,
    name_filter: '',
  });
  return found?.interface_name;
}
