/** A flow for people. */
import type { Flow, FlowEnd } from '#documents/flows.ts';
import { durationText, timeText } from './event-line.ts';

/** `shop/web`, `shop/web (10.1.1.2)` if it is wide, or an address. */
function endText({ address, name }: FlowEnd, isWide: boolean): string {
  if (name === '') return address;
  return isWide ? `${name} (${address})` : name;
}

export function clientText(flow: Flow, isWide: boolean): string {
  return endText(flow.client, isWide);
}

/** With the port, and the protocol unless it is TCP. */
export function serverText({ server, protocol }: Flow, isWide: boolean): string {
  const port = `${endText(server, isWide)}:${server.port ?? ''}`;
  return protocol === 'TCP' ? port : `${port}/${protocol}`;
}

/** The service that the client has asked, if the kernel has translated its address. */
export function serviceText({ service }: Flow): string {
  return service ? `${service.name || service.address}:${service.port}` : '';
}

/** How long it took; a dash: it is open. */
export function lastedText({ time, ended }: Flow): string {
  return ended === undefined ? '-' : durationText(Date.parse(ended) - Date.parse(time));
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'];

export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1_000 && unit < units.length - 1; unit++) value /= 1_000;
  return `${unit > 0 && value < 10 ? value.toFixed(1) : Math.round(value)}${units[unit]}`;
}

export function flowText(flow: Flow, isWide: boolean): string {
  const { verdict, reason, ended, clientBytes, serverBytes, rttUs, retransmissions } = flow;
  const { sockets = 0 } = flow.datagrams ?? {};
  const service = serviceText(flow);
  const parts = [
    timeText(Date.parse(ended ?? flow.time)),
    seenAtText(flow),
    verdictText(flow),
    `${clientText(flow, isWide)} > ${service === '' ? '' : `${service} = `}${serverText(flow, isWide)}`,
  ];
  if (ended !== undefined && verdict === 'open') {
    parts.push(`${bytesText(clientBytes)} > ${bytesText(serverBytes)}`, lastedText(flow));
    if (sockets > 1) parts.push(`${sockets} sockets`);
    if (isWide && rttUs > 0) parts.push(`rtt ${(rttUs / 1_000).toFixed(2)}ms`);
    if (retransmissions > 0) parts.push(`${retransmissions} sent again`);
  }
  if (reason !== '') parts.push(reason);
  return parts.join('  ');
}

/** The node, and the end there that has a socket; or its VPP. */
export function seenAtText({ node, side, seenBy }: Flow): string {
  return `${node} (${seenBy === 'vpp' ? 'VPP' : seenBy === 'probe' ? `${side} by VPP` : side})`;
}

/** `closed`: it was open. */
export function verdictText({ verdict, ended }: Flow): string {
  return verdict === 'open' && ended !== undefined ? 'closed' : verdict;
}
