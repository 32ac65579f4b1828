import type { PortSet, ProtocolPorts } from '../port-set.ts';

/**
 * `All Connections`, `No Connections`, the ports by protocol, for example `TCP 80,8080-8090,UDP 53`, or
 * `All Connections but` them.
 */
export function portsText(ports: PortSet): string {
  if (ports.isAny) return 'All Connections';
  if (ports.isEmpty) return 'No Connections';
  if (ports.isComplement) return `All Connections but ${portsText(ports.complement())}`;
  const byProtocol = Map.groupBy(ports.ranges, ({ protocol }) => protocol);
  return [...byProtocol]
    .map(([protocol, ranges]) => `${protocol} ${ranges.map(rangeText).join(',')}`)
    .sort()
    .join(',');
}

function rangeText({ first, last }: ProtocolPorts): string {
  return first === last ? String(first) : `${first}-${last}`;
}
