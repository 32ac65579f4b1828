/** `/dump/linux/v2/arps` and `/dump/linux/v2/routes`. */
import type { Route } from '#infra/http/route.ts';
import { AGENT_ROUTE_PROTOCOL, type LinuxHost } from '#linux/api.ts';
import { type LinuxArpEntry, linuxArpModel } from '#models/linux/arp.ts';
import { type LinuxRoute, type LinuxRouteScope, linuxRouteModel } from '#models/linux/route.ts';
import { type DocumentDeps, documentRoute, listOf } from '../document.ts';
import { readLinuxLinks } from '../linux-links.ts';
import { structJsonOf } from '../message-json.ts';

const FAMILY_IPV4 = 2;
const FAMILY_IPV6 = 10;

/** Numbers of the kernel. */
const scopes: Readonly<Record<LinuxRouteScope, number>> = {
  UNDEFINED: 0,
  GLOBAL: 0,
  SITE: 200,
  LINK: 253,
  HOST: 254,
};

export function linuxLayer3Documents(
  { southbound, clock }: DocumentDeps,
  host: LinuxHost,
): Route[] {
  const readIndexes = async (): Promise<(name: string) => number> => {
    const links = await readLinuxLinks(southbound, host);
    const indexes = new Map(links.map(({ value, report }) => [value.name, report.index]));
    return (name) => indexes.get(name) ?? 0;
  };
  const arps = async () => {
    const indexOf = await readIndexes();
    const found = await southbound.read<LinuxArpEntry>('linux-arp');
    return listOf(clock, found, ({ value }) => ({
      linux_arp: structJsonOf(linuxArpModel, value),
      linux_arp_meta: {
        interface_index: indexOf(value.interface),
        ip_family: value.ip_address.includes(':') ? FAMILY_IPV6 : FAMILY_IPV4,
        vni: 0,
      },
    }));
  };
  const routes = async () => {
    const indexOf = await readIndexes();
    const found = await southbound.read<LinuxRoute>('linux-route');
    return listOf(clock, found, ({ value }) => ({
      Route: structJsonOf(linuxRouteModel, value),
      Meta: {
        interface_index: indexOf(value.outgoing_interface),
        link_scope: scopes[value.scope],
        protocol: AGENT_ROUTE_PROTOCOL,
        mtu: 0,
      },
    }));
  };
  return [
    documentRoute('/dump/linux/v2/arps', 'ARP entries of Linux', clock, arps),
    documentRoute('/dump/linux/v2/routes', 'routes of Linux', clock, routes),
  ];
}
