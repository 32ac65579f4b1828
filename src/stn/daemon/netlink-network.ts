/** The network of the host through one netlink socket. Needs CAP_NET_ADMIN. */
import { LinuxError } from '#linux/api.ts';
import { openSocket, receive, send } from '#linux/kernel/system-calls.ts';
import { families, macText } from '#linux/netlink/addresses.ts';
import { attributesOf, malformed, numberOf, textOf } from '#linux/netlink/attributes.ts';
import {
  dumpLinks,
  FIXED_LENGTH,
  hardwareTypes,
  renameLink,
  setLink,
} from '#linux/netlink/links.ts';
import type { Message } from '#linux/netlink/messages.ts';
import { NetlinkSocket } from '#linux/netlink/socket.ts';
import type { HostLink, HostNetwork } from './host-network.ts';
import { addAddress, decodeAddress, dumpAddresses } from './netlink-addresses.ts';
import { addRoute, decodeRoute, dumpRoutes } from './netlink-routes.ts';

const bothFamilies = [families.ipv4, families.ipv6];
const UP = 0x1;
const at = {
  mac: 1,
  name: 3,
  mtu: 4,
  lower: 5,
  master: 10,
  operState: 16,
  info: 18,
  lowerNamespace: 37,
};
const KIND = 1;

/** In the network namespace of the calling thread. */
export function netlinkNetwork(): HostNetwork {
  const file = openSocket('route');
  const socket = new NetlinkSocket({
    send: (bytes) => send(file, bytes),
    receive: (into) => receive(file, into),
  });
  const links = (): readonly HostLink[] => socket.dump(dumpLinks(), decodeHostLink);
  return {
    links,
    addresses: (index) =>
      bothFamilies
        .flatMap((family) => socket.dump(dumpAddresses(family), decodeAddress))
        .flatMap((found) => (found.index === index ? [found.address] : [])),
    routes(index) {
      const names = new Map(links().map((link) => [link.index, link.name]));
      return bothFamilies.flatMap((family) =>
        socket.dump(dumpRoutes(family), (message) =>
          decodeRoute(message, index, (other) => names.get(other)),
        ),
      );
    },
    setLink: (index, change) => socket.change(setLink(index, change)),
    rename: (index, name) => socket.change(renameLink(index, name)),
    addAddress: (index, address) => socket.change(addAddress(index, address)),
    addRoute(index, route) {
      const indexOf = (name: string): number => {
        const link = links().find((each) => each.name === name);
        if (!link)
          throw new LinuxError('the link does not exist', { where: name, errno: 'ENODEV' });
        return link.index;
      };
      socket.change(addRoute(index, route, indexOf));
    },
  };
}

export function decodeHostLink({ body }: Message): HostLink {
  if (body.length < FIXED_LENGTH) throw malformed('truncated link');
  const attributes = attributesOf(body.subarray(FIXED_LENGTH));
  const name = textOf(attributes, at.name);
  if (name === undefined) throw malformed('link without a name');
  const hardware = body.readUInt16LE(2);
  const details = attributes.get(at.info);
  const kind = details && textOf(attributesOf(details), KIND);
  const mac = attributes.get(at.mac);
  // The number of a link in another namespace means nothing here.
  const lower = attributes.has(at.lowerNamespace) ? undefined : numberOf(attributes, at.lower);
  return {
    index: body.readInt32LE(4),
    name,
    kind: kind ?? hardwareTypes[hardware] ?? String(hardware),
    up: (body.readUInt32LE(8) & UP) !== 0,
    operState: attributes.get(at.operState)?.[0] ?? 0,
    mtu: numberOf(attributes, at.mtu) ?? 0,
    mac: mac && macText(mac),
    masterIndex: numberOf(attributes, at.master) || undefined,
    lowerIndex: lower || undefined,
  };
}
