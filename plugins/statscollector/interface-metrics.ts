import { Counter, type Registry } from 'prom-client';
import type { InterfaceCounters } from '#plugins/controller/api/ports/stats.ts';
import type { InterfaceEntry } from './interface-entry.ts';
import { nodeOwner } from './interface-owner.ts';

const counters = {
  receive_packets: ['rxPackets', 'Packets that VPP received from an interface.'],
  receive_bytes: ['rxBytes', 'Bytes that VPP received from an interface.'],
  receive_errors: ['rxErrors', 'Errors on receive from an interface.'],
  receive_without_buffer: ['rxNoBuffer', 'Packets of an interface for which VPP had no buffer.'],
  receive_missed: ['rxMiss', 'Packets of an interface that VPP received too late.'],
  transmit_packets: ['txPackets', 'Packets that VPP sent to an interface.'],
  transmit_bytes: ['txBytes', 'Bytes that VPP sent to an interface.'],
  transmit_errors: ['txErrors', 'Errors on send to an interface.'],
  dropped_packets: ['drops', 'Packets of an interface that VPP dropped.'],
  punted_packets: ['punts', 'Packets of an interface that VPP passed to the host.'],
  ip4_packets: ['ip4', 'IPv4 packets of an interface.'],
  ip6_packets: ['ip6', 'IPv6 packets of an interface.'],
} as const satisfies Readonly<Record<string, readonly [keyof InterfaceCounters, string]>>;

/** Counters of interfaces on `/metrics`; `namespace` and `pod` are empty for those of the node. */
export function registerInterfaceMetrics(
  registry: Registry,
  entries: () => readonly InterfaceEntry[],
): void {
  for (const [name, [counter, help]] of Object.entries(counters))
    new Counter({
      name: `contiv_interface_${name}_total`,
      help,
      labelNames: ['namespace', 'pod', 'interface'],
      registers: [registry],
      collect() {
        this.reset();
        for (const { owner, interfaceName, counters: found } of entries()) {
          const isOfNode = owner === nodeOwner;
          const labels = {
            namespace: isOfNode ? '' : owner.podNamespace,
            pod: isOfNode ? '' : owner.podName,
            interface: interfaceName,
          };
          this.inc(labels, Number(found[counter]));
        }
      },
    });
}
