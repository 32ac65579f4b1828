/** Ports that policies treat alike: one of a class stands for all of them. */
import type { PodPolicy } from '#plugins/policy/pod-policy.ts';
import { allPorts, type ProtocolPorts, policyProtocols } from '#plugins/policy/port-set.ts';

export type PortClass = ProtocolPorts;

/** A packet that only rules for all protocols match. */
export const allProtocols = { protocol: 'ICMP', port: 0 } as const;

/** For each protocol all ports, ascending, cut where a range of a permit begins or ends. */
export function portClasses(policies: Iterable<PodPolicy>): PortClass[] {
  const begins = new Map(policyProtocols.map((protocol) => [protocol, new Set([allPorts.first])]));
  for (const { ingress, egress } of policies) {
    for (const { ports } of [...ingress.rules, ...egress.rules]) {
      for (const { protocol, first, last } of ports.ranges) {
        begins.get(protocol)?.add(first);
        if (last < allPorts.last) begins.get(protocol)?.add(last + 1);
      }
    }
  }
  return policyProtocols.flatMap((protocol) => {
    const sorted = [...(begins.get(protocol) ?? [])].sort((a, b) => a - b);
    return sorted.map((first, at) => ({
      protocol,
      first,
      last: (sorted[at + 1] ?? allPorts.last + 1) - 1,
    }));
  });
}
