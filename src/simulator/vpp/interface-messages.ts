import { fromMac, toMac } from '#vpp/binapi/addresses.ts';
import type { SwInterfaceDetails } from '#vpp/binapi/messages.gen.ts';
import { type Interfaces, isEthernet, type SimInterface } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { NONE, retval } from './retval.ts';
import type { SubInterfaces, TagRewrite } from './sub-interfaces.ts';

const ADMIN_UP = 1;
const LINK_UP = 2;
const ifType = { hardware: 0, sub: 1 };
const ONE_TAG = 2;
const EXACT_MATCH = 16;
const noMac = new Uint8Array(6);

function detailsOf(iface: SimInterface, rewrite: TagRewrite | undefined): SwInterfaceDetails {
  const { sup } = iface;
  const hardware = sup ?? iface;
  return {
    sw_if_index: iface.index,
    sup_sw_if_index: hardware.index,
    l2_address: sup ? noMac : toMac(iface.mac),
    flags: (iface.adminUp ? ADMIN_UP : 0) | (hardware.linkUp ? LINK_UP : 0),
    type: sup ? ifType.sub : ifType.hardware,
    link_duplex: 0,
    link_speed: 0,
    link_mtu: hardware.linkMtu,
    mtu: iface.mtu,
    sub_id: iface.vlan,
    sub_number_of_tags: sup ? 1 : 0,
    sub_outer_vlan_id: iface.vlan,
    sub_inner_vlan_id: 0,
    sub_if_flags: sup ? ONE_TAG | EXACT_MATCH : 0,
    vtr_op: 0,
    vtr_push_dot1q: 0,
    vtr_tag1: 0,
    vtr_tag2: 0,
    ...rewrite,
    outer_tag: 0,
    b_dmac: noMac,
    b_smac: noMac,
    b_vlanid: 0,
    i_sid: 0,
    interface_name: iface.name,
    interface_dev_type: iface.deviceType,
    tag: iface.tag,
  };
}

/** Index 0 selects all interfaces, like ~0, as in VPP. */
function selected(interfaces: Interfaces, index: number): readonly SimInterface[] {
  if (index === NONE || index === 0) return interfaces.all();
  const found = interfaces.get(index);
  return found ? [found] : [];
}

const rxMode = { unknown: 0, polling: 1, interrupt: 2, adaptive: 3, default: 4 };

function setRxMode(iface: SimInterface, queue: number | undefined, requested: number): number {
  const queues = iface.queues.filter(({ id }) => queue === undefined || id === queue);
  if (queue !== undefined && queues.length === 0) return retval.UNIMPLEMENTED;
  const mode = requested === rxMode.default ? iface.defaultRxMode : requested;
  for (const one of queues) {
    if (mode === rxMode.adaptive && iface.kind === 'af-packet' && one.mode !== mode)
      return retval.UNIMPLEMENTED;
    one.mode = mode;
  }
  return 0;
}

/** Messages for all kinds of interfaces: state, tag, MAC, MTU, receive queues. */
export function interfaceMessages(interfaces: Interfaces, subs: SubInterfaces): MessageHandlers {
  /** Calls the function with the interface, or returns the retval of an unknown index. */
  const withInterface = (index: number, then: (iface: SimInterface) => number): number => {
    const iface = interfaces.get(index);
    return iface ? then(iface) : retval.INVALID_SW_IF_INDEX;
  };
  return {
    requests: {
      sw_interface_set_flags: ({ sw_if_index, flags }) =>
        withInterface(sw_if_index, (iface) => {
          const up = (flags & ADMIN_UP) !== 0;
          if (up && iface.sup?.adminUp === false) return retval.UNSPECIFIED;
          interfaces.setAdmin(iface, up);
          return 0;
        }),
      sw_interface_tag_add_del: ({ sw_if_index, is_add, tag }) =>
        withInterface(sw_if_index, (iface) => {
          if (is_add && tag === '') return retval.INVALID_VALUE;
          iface.tag = is_add ? tag : '';
          return 0;
        }),
      sw_interface_set_mac_address: ({ sw_if_index, mac_address }) =>
        withInterface(sw_if_index, (iface) => {
          if (!iface.driver.setMac) return retval.UNIMPLEMENTED;
          const mac = fromMac(mac_address);
          const refused = iface.driver.setMac(mac);
          if (refused === undefined) interfaces.setMac(iface, mac);
          return refused ?? 0;
        }),
      hw_interface_set_mtu: ({ sw_if_index, mtu }) =>
        withInterface(sw_if_index, (iface) => {
          if (iface.sup) return retval.INVALID_VALUE;
          if (!isEthernet(iface)) return retval.FEATURE_DISABLED;
          if (mtu === iface.linkMtu) return 0;
          if (!iface.driver.setMtu) return retval.UNSUPPORTED;
          const refused = iface.driver.setMtu(mtu);
          if (refused !== undefined) return refused;
          iface.linkMtu = mtu;
          const vlans = interfaces.all('sub').filter(({ sup }) => sup === iface);
          for (const each of [iface, ...vlans]) each.mtu = [mtu, ...each.mtu.slice(1)];
          return 0;
        }),
      sw_interface_set_mtu: ({ sw_if_index, mtu }) =>
        withInterface(sw_if_index, (iface) => {
          iface.mtu = [...mtu];
          return 0;
        }),
      sw_interface_set_rx_mode: ({ sw_if_index, queue_id_valid, queue_id, mode }) =>
        withInterface(sw_if_index, (iface) =>
          iface.sup
            ? retval.INVALID_VALUE
            : setRxMode(iface, queue_id_valid ? queue_id : undefined, mode),
        ),
      // a VPP without workers: the main thread is the only one
      sw_interface_set_rx_placement: ({ sw_if_index, queue_id, worker_id, is_main }) =>
        withInterface(sw_if_index, (iface) => {
          if (iface.sup) return retval.INVALID_VALUE;
          const known = iface.queues.some(({ id }) => id === queue_id);
          return known && (is_main || worker_id === 0) ? 0 : retval.UNIMPLEMENTED;
        }),
    },
    dumps: {
      sw_interface_dump: ({ sw_if_index, name_filter_valid, name_filter }) => {
        const requested = name_filter.toLowerCase();
        return selected(interfaces, sw_if_index)
          .filter(({ name }) => !name_filter_valid || name.toLowerCase().includes(requested))
          .map((iface) => detailsOf(iface, subs.rewriteOf(iface)));
      },
      sw_interface_rx_placement_dump: ({ sw_if_index }) =>
        (sw_if_index === NONE ? interfaces.all() : selected(interfaces, sw_if_index)).flatMap(
          (iface) =>
            iface.queues.map(({ id, mode }) => ({
              sw_if_index: iface.index,
              queue_id: id,
              worker_id: 0,
              mode,
            })),
        ),
    },
  };
}
