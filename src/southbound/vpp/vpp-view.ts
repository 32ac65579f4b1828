import type { VppView } from '#nodeview/vpp.ts';
import type { VppClient } from './binapi/api.ts';

const all = 0xffff_ffff;

export function vppView(client: VppClient): VppView {
  return {
    async interfaces() {
      const found = await client.dump('sw_interface_dump', {
        sw_if_index: all,
        name_filter_valid: false,
        name_filter: '',
      });
      return found.map((each) => ({
        swIfIndex: each.sw_if_index,
        internalName: each.interface_name,
        deviceType: each.interface_dev_type,
        tag: each.tag,
      }));
    },
  };
}
