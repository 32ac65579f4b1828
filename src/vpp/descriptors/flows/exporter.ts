/**
 * The place that VPP sends flows to, which its plugin flowprobe counts. Three faults of VPP (v24.10 to v26.10, found with packets)
 * give the order:
 *
 * - When the last interface is no longer probed while a worker has records that it has not sent, VPP loses its stream, and probes
 *   nothing until it restarts, though it answers that it does. So local0, where no packet comes in, is probed from the first time on.
 * - A process of VPP ends, and never runs again, when it has records to send and no collector. So the address stays, and the pause between
 *   templates says that nothing is exported.
 * - Parameters cannot change while an interface is probed, even one that was deleted. So they are constants.
 */
import { allOrNothing } from '#infra/rollback/rollback.ts';
import { checkField } from '#kvscheduler/api/check-field.ts';
import { defineDescriptor } from '#kvscheduler/api/define-descriptor.ts';
import type { KvDescriptor } from '#kvscheduler/api/descriptor.ts';
import { parseIp } from '#models/ip.ts';
import { FLOW_PORT, type FlowExporter, flowExporterModel } from '#models/vpp/flow-exporter.ts';
import { fromAddress, toAddress } from '../../binapi/addresses.ts';
import type { VppClient } from '../../binapi/api.ts';
import {
  FlowprobeDirection,
  FlowprobeRecordFlags,
  FlowprobeWhich,
} from '../../binapi/enums.gen.ts';
import type { FlowprobeSetParams, IpfixExporterDetails } from '../../binapi/messages.gen.ts';
import { ignoreRetvals } from '../ignored-retvals.ts';
import { NONE } from '../limits.ts';
import type { VppDescriptorOptions } from '../options.ts';

const LOCAL0 = 0;
const ALREADY_EXISTS = -116;
const NO_ADDRESS = '0.0.0.0';

/**
 * A flow is reported every 5 s while it has packets, and 6 to 7 s after the last one. With a shorter second time its last packets
 * would be lost: VPP drops a flow after nine tenths of it, and reports it only if the first one has passed.
 */
const PARAMETERS: Required<FlowprobeSetParams> = {
  record_flags:
    FlowprobeRecordFlags.FLOWPROBE_RECORD_FLAG_L3 | FlowprobeRecordFlags.FLOWPROBE_RECORD_FLAG_L4,
  active_timer: 5,
  passive_timer: 6,
};

/** VPP sends what it has collected together with the templates. */
const TEMPLATE_SECONDS = 1;
/** The pause between templates while nothing is exported. */
export const PAUSED_SECONDS = 0x7fff_ffff;
/** With the largest record that follows it, below the MTU of the link to the host. */
const MESSAGE_BYTES = 1_300;

export function flowExporterDescriptor({
  client,
  log,
}: VppDescriptorOptions): KvDescriptor<FlowExporter, FlowExporter> {
  const configure = (value: FlowExporter, template_interval: number): Promise<unknown> =>
    client.request('set_ipfix_exporter', {
      collector_address: toAddress(value.collector_address),
      collector_port: value.collector_port,
      src_address: toAddress(value.source_address),
      vrf_id: NONE,
      path_mtu: MESSAGE_BYTES,
      template_interval,
      udp_checksum: false,
    });

  return defineDescriptor('vpp-flow-exporter', flowExporterModel, {
    validate,
    create: (_key, value) =>
      allOrNothing(log, async (undo) => {
        if (!hasParameters(await client.request('flowprobe_get_params', {})))
          await client.request('flowprobe_set_params', PARAMETERS);
        await configure(value, TEMPLATE_SECONDS);
        undo.add(() => configure(value, PAUSED_SECONDS));
        if (!(await isAnchored(client)))
          // another request may have been faster
          await ignoreRetvals(client.request('flowprobe_interface_add_del', anchor), [
            ALREADY_EXISTS,
          ]);
        return value;
      }),
    async update(_key, _before, after) {
      await configure(after, TEMPLATE_SECONDS);
      return after;
    },
    async delete(_key, value) {
      await configure(value, PAUSED_SECONDS);
    },

    async retrieve(correlate) {
      if (!client.has('flowprobe_get_params') || !client.has('ipfix_exporter_dump')) return [];
      const [exporter] = await client.dump('ipfix_exporter_dump', {});
      const value = exporter && readExporter(exporter);
      if (value === undefined) return [];
      const key = flowExporterModel.key(value);
      // that of an operator, who collects flows of VPP
      if (correlate.length === 0 && value.collector_port !== FLOW_PORT)
        return [{ key, value, metadata: value, origin: 'from-SB' as const }];
      const [parameters, isAnchor] = await Promise.all([
        client.request('flowprobe_get_params', {}),
        isAnchored(client),
      ]);
      const broken = !hasParameters(parameters)
        ? 'VPP has other parameters of flowprobe'
        : isAnchor
          ? undefined
          : 'VPP does not probe local0';
      return [{ key, value, metadata: value, origin: 'from-NB' as const, broken }];
    },
  });
}

const anchor = {
  is_add: true,
  which: FlowprobeWhich.FLOWPROBE_WHICH_L2,
  direction: FlowprobeDirection.FLOWPROBE_DIRECTION_RX,
  sw_if_index: LOCAL0,
};

function validate(key: string, value: FlowExporter): void {
  // VPP writes headers of IPv4 alone
  for (const field of ['collector_address', 'source_address'] as const)
    checkField(key, parseIp(value[field])?.length === 4, field, 'must be an IPv4 address');
  // an exporter to another port is that of an operator
  checkField(key, value.collector_port === FLOW_PORT, 'collector_port', `must be ${FLOW_PORT}`);
}

function hasParameters({ record_flags, active_timer, passive_timer }: FlowprobeSetParams): boolean {
  return (
    record_flags === PARAMETERS.record_flags &&
    active_timer === PARAMETERS.active_timer &&
    passive_timer === PARAMETERS.passive_timer
  );
}

async function isAnchored(client: VppClient): Promise<boolean> {
  const found = await client.dump('flowprobe_interface_dump', { sw_if_index: LOCAL0 });
  return found.length > 0;
}

function readExporter(found: IpfixExporterDetails): FlowExporter | undefined {
  const collector_address = fromAddress(found.collector_address);
  if (collector_address === NO_ADDRESS || found.template_interval === PAUSED_SECONDS)
    return undefined;
  return flowExporterModel.canonical({
    collector_address,
    collector_port: found.collector_port,
    source_address: fromAddress(found.src_address),
  });
}
