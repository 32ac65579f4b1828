import { FlowprobeDirection, FlowprobeWhich } from '#vpp/binapi/enums.gen.ts';
import type {
  FlowprobeInterfaceDetails,
  FlowprobeSetParams,
  SetIpfixExporter,
} from '#vpp/binapi/messages.gen.ts';
import type { FeatureArcs } from './feature-arcs.ts';
import type { Fib } from './fib.ts';
import type { Interfaces } from './interfaces.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { NONE, retval } from './retval.ts';

type Parameters = Required<FlowprobeSetParams>;

const DEFAULT_ACTIVE = 15;
const DEFAULT_PASSIVE = 120;
const DEFAULT_PORT = 4739;
const IPV4 = 0;

/** The exporter and the probes of interfaces, which outlive them. No flow is counted or sent. */
export function flowprobeMessages(
  interfaces: Interfaces,
  arcs: FeatureArcs,
  fib: Fib,
): MessageHandlers {
  const none = { af: IPV4, un: new Uint8Array(16) };
  let exporter: SetIpfixExporter = {
    collector_address: none,
    collector_port: 0,
    src_address: none,
    vrf_id: NONE,
    path_mtu: 0,
    template_interval: 0,
    udp_checksum: false,
  };
  let parameters: Parameters = {
    record_flags: 0,
    active_timer: DEFAULT_ACTIVE,
    passive_timer: DEFAULT_PASSIVE,
  };
  const probes = new Map<number, FlowprobeInterfaceDetails>();

  const setArcs = ({ sw_if_index, which, direction }: FlowprobeInterfaceDetails, isOn: boolean) => {
    const { FLOWPROBE_WHICH_IP4: ip4, FLOWPROBE_WHICH_IP6: ip6 } = FlowprobeWhich;
    const family = which === ip4 ? 'ip4' : which === ip6 ? 'ip6' : 'l2';
    const input = family === 'l2' ? ['device-input'] : [`${family}-unicast`, `${family}-multicast`];
    const output = family === 'l2' ? ['interface-output'] : [`${family}-output`];
    if (direction !== FlowprobeDirection.FLOWPROBE_DIRECTION_TX)
      for (const arc of input) arcs.set(sw_if_index, arc, `flowprobe-input-${family}`, isOn);
    if (direction !== FlowprobeDirection.FLOWPROBE_DIRECTION_RX)
      for (const arc of output) arcs.set(sw_if_index, arc, `flowprobe-output-${family}`, isOn);
  };

  return {
    requests: {
      set_ipfix_exporter: (request) => {
        const { vrf_id } = request;
        if (vrf_id !== NONE && !fib.find(4, vrf_id)) return retval.NO_SUCH_FIB;
        // VPP takes the first four bytes, whatever the family
        const collector = { af: IPV4, un: firstFour(request.collector_address.un) };
        const isOff = isZero(collector.un);
        if (!isOff && isZero(request.src_address.un)) return retval.INVALID_VALUE;
        if (request.src_address.af !== IPV4) return retval.INVALID_VALUE;
        const path_mtu = request.path_mtu === NONE ? 512 : request.path_mtu;
        if (path_mtu > 1450 || path_mtu < 68) return retval.INVALID_VALUE;
        const interval = request.template_interval;
        exporter = {
          ...request,
          collector_address: collector,
          collector_port: request.collector_port === 0xffff ? DEFAULT_PORT : request.collector_port,
          path_mtu,
          template_interval: interval === NONE ? 20 : interval,
        };
        return 0;
      },
      flowprobe_set_params: ({
        record_flags,
        active_timer = NONE,
        passive_timer = NONE,
      }: FlowprobeSetParams) => {
        if (passive_timer > 0 && active_timer > passive_timer) return retval.INVALID_VALUE;
        if (probes.size > 0) return retval.UNSUPPORTED;
        parameters = {
          record_flags,
          active_timer: active_timer === NONE ? DEFAULT_ACTIVE : active_timer,
          passive_timer: passive_timer === NONE ? DEFAULT_PASSIVE : passive_timer,
        };
        return 0;
      },
      flowprobe_get_params: () => parameters,
      flowprobe_interface_add_del: ({ is_add, ...probe }) => {
        if (!interfaces.get(probe.sw_if_index)) return retval.INVALID_SW_IF_INDEX;
        const isKnown =
          probe.which <= FlowprobeWhich.FLOWPROBE_WHICH_L2 &&
          probe.direction <= FlowprobeDirection.FLOWPROBE_DIRECTION_BOTH;
        if (!isKnown) return retval.INVALID_VALUE;
        if (parameters.record_flags === 0) return retval.CANNOT_ENABLE_DISABLE_FEATURE;
        const before = probes.get(probe.sw_if_index);
        if (before && (is_add || before.which !== probe.which)) return retval.ENTRY_ALREADY_EXISTS;
        if (!before && !is_add) return retval.NO_SUCH_ENTRY;
        setArcs(probe, is_add);
        if (is_add) probes.set(probe.sw_if_index, probe);
        else probes.delete(probe.sw_if_index);
        return 0;
      },
    },
    dumps: {
      ipfix_exporter_dump: () => [exporter],
      flowprobe_interface_dump: ({ sw_if_index = NONE }) =>
        [...probes.values()]
          .filter((one) => sw_if_index === NONE || one.sw_if_index === sw_if_index)
          .sort((a, b) => a.sw_if_index - b.sw_if_index),
    },
    snapshot: () => ({
      flowExporter: isZero(exporter.collector_address.un)
        ? []
        : [
            `${exporter.collector_address.un.slice(0, 4).join('.')}:${exporter.collector_port} every ${exporter.template_interval} s`,
          ],
      flowProbes: [...probes.keys()].map((index) => interfaces.nameOf(index)).sort(),
    }),
  };
}

function firstFour(bytes: Uint8Array): Uint8Array {
  const kept = new Uint8Array(16);
  kept.set(bytes.subarray(0, 4));
  return kept;
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}
