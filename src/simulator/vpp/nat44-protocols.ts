import type { Protocol } from '#packet-trace/packet.ts';

export const protocolNumbers: Readonly<Record<Protocol, number>> = { ICMP: 1, TCP: 6, UDP: 17 };

export function protocolOf(number: number): Protocol | undefined {
  const names: readonly Protocol[] = ['ICMP', 'TCP', 'UDP'];
  return names.find((name) => protocolNumbers[name] === number);
}
