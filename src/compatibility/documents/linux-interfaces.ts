/** `/dump/linux/v2/interfaces` and `/stats/linux/interfaces`. */
import type { Route } from '#infra/http/route.ts';
import type { LinuxHost } from '#linux/api.ts';
import { linuxInterfaceModel } from '#models/linux/interface.ts';
import { type DocumentDeps, documentRoute, listOf } from '../document.ts';
import { type LinuxLink, readLinuxLinks } from '../linux-links.ts';
import { jsonpbOf, structJsonOf } from '../message-json.ts';

export function linuxInterfaceDocuments(
  { southbound, clock }: DocumentDeps,
  host: LinuxHost,
): Route[] {
  return [
    documentRoute('/dump/linux/v2/interfaces', 'interfaces of Linux', clock, async () =>
      listOf(clock, await readLinuxLinks(southbound, host), documentOf),
    ),
    documentRoute('/stats/linux/interfaces', 'counters of interfaces of Linux', clock, async () =>
      listOf(clock, await readLinuxLinks(southbound, host), statisticsOf),
    ),
  ];
}

function documentOf({ value, report }: LinuxLink) {
  return {
    interface: jsonpbOf(linuxInterfaceModel, value),
    interface_meta: {
      linux_if_index: report.index,
      parent_index: report.parentIndex,
      master_index: report.masterIndex,
      oper_state: report.operState,
      flags: report.flags,
      encapsulation: report.encapsulation,
      num_rx_queue: report.rxQueues,
      num_tx_queue: report.txQueues,
      tx_queue_len: report.txQueueLength,
    },
  };
}

function statisticsOf({ value, report: { index, counters } }: LinuxLink) {
  const { type } = structJsonOf(linuxInterfaceModel, value) as { readonly type?: number };
  return {
    interface_name: value.name,
    interface_type: type ?? 0,
    linux_if_index: index,
    rx_packets: counters.rxPackets,
    tx_packets: counters.txPackets,
    rx_bytes: counters.rxBytes,
    tx_bytes: counters.txBytes,
    rx_errors: counters.rxErrors,
    tx_errors: counters.txErrors,
    rx_dropped: counters.rxDropped,
    tx_dropped: counters.txDropped,
  };
}
