import type { Flow, FlowEnd } from '#documents/flows.ts';
import { hostAndPort } from '../../components/host-and-port.ts';

/** Name of an end, or its address; with the port of a server. */
export function endText({ name, address, port }: FlowEnd, hasPort: boolean): string {
  const shown = name === '' ? address : name;
  return hasPort && port !== undefined ? hostAndPort(shown, port) : shown;
}

/** A mark behind the port; nodes of earlier releases name no protocol of pairs. */
export function protocolText({ protocol }: Pick<Flow, 'protocol'>): string {
  return protocol === 'UDP' ? '/UDP' : '';
}

export function serviceText({ service }: Flow): string {
  if (!service) return '';
  return hostAndPort(service.name === '' ? service.address : service.name, service.port);
}
