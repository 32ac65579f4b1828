/**
 * Links of the host by which clients outside come that ask a node port at an address of the host. The kernel leads their
 * packets to VPP, whose NAT44 has the mapping, and the replies back: `plugins/ipv4net/host-replies.ts` routes them to the host.
 */
import { serviceLinkModel } from '#models/linux/service-link.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import type { Ipv4NetApi } from '#plugins/ipv4net/api.ts';

export function clientLinkValues(net: Pick<Ipv4NetApi, 'hostLinks' | 'hostGateway'>): KeyValue[] {
  const toVpp = net.hostGateway();
  const links = net.hostLinks();
  if (toVpp === undefined || links.length === 0) return [];
  const { link: vpp_link, gateway: gw_addr } = toVpp;
  return [
    keyValue(serviceLinkModel, { host_if_name: vpp_link }),
    ...links.map((host_if_name) => keyValue(serviceLinkModel, { host_if_name, vpp_link, gw_addr })),
  ];
}
