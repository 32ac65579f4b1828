/** The ends of tunnels: VXLAN, and WireGuard, which encrypts. */
import { VXLAN_PORT } from '#models/vpp/interface.ts';
import { sameAddress } from './addresses.ts';
import type { CarriedPacket, EncryptedPacket, VxlanFrame } from './packet.ts';
import type { Device, Interface, Snapshot, Tunnel } from './snapshot.ts';
import { isAllowed, nameOfEnd } from './wireguard.ts';

/** The packet that a tunnel sends in place of the one that it got. */
export interface OuterPacket {
  /** A sentence without a subject. */
  readonly text: string;
  /** Of the value that decided. */
  readonly key: string;
  readonly packet: CarriedPacket;
  /** In which it is looked up. */
  readonly table: number;
}

/** The packet that was in an outer one, where it enters. */
export interface InnerPacket {
  readonly text: string;
  readonly key: string;
  readonly port: Interface;
  /** Of its frame; empty: it has none. */
  readonly mac: string;
  readonly packet: CarriedPacket;
}

export interface LostPacket {
  /** Why it is dropped. */
  readonly why: string;
  readonly key: string;
}

/** The only one by which VPP sends handshakes of WireGuard. */
const UNDERLAY_TABLE = 0;

/** VPP derives it from the inner packet. */
const VXLAN_SOURCE_PORT = 49_152;

export function encapsulated(
  { source, destination, vni, table }: Tunnel,
  key: string,
  mac: string,
  packet: CarriedPacket,
): OuterPacket {
  const outer: CarriedPacket = {
    source,
    destination,
    protocol: 'UDP',
    sourcePort: VXLAN_SOURCE_PORT,
    destinationPort: VXLAN_PORT,
    inner: { vni, mac, packet },
  };
  const text = `encapsulated in VXLAN from ${source} to ${destination}, VNI ${vni}`;
  return { text, key, packet: outer, table };
}

/** @param table in which the outer packet was looked up */
function decapsulated(
  device: Device,
  table: number,
  { source, destination }: CarriedPacket,
  { vni, mac, packet }: VxlanFrame,
): InnerPacket | LostPacket {
  const port = [...device.interfaces.values()].find(
    ({ tunnel }) =>
      tunnel &&
      tunnel.vni === vni &&
      tunnel.table === table &&
      sameAddress(tunnel.source, destination) &&
      sameAddress(tunnel.destination, source),
  );
  const name = `VXLAN from ${source} with VNI ${vni}`;
  if (!port) return { why: `${name} matches no tunnel`, key: '' };
  return { text: `${name} is decapsulated by ${port.name}`, key: port.key, port, mac, packet };
}

/** @param exit an interface of WireGuard */
export function encrypted(
  snapshot: Snapshot,
  { name, key, wireguard }: Interface,
  nextHop: string,
  packet: CarriedPacket,
): OuterPacket | LostPacket {
  const { source, port, publicKey: sender, peers } = wireguard!;
  const peer = peers.find((one) => isAllowed(one, nextHop));
  if (!peer) return { why: `no peer of ${name} has ${nextHop}`, key };
  const { publicKey: receiver, endpoint } = peer;
  const outer: CarriedPacket = {
    source,
    destination: endpoint,
    protocol: 'UDP',
    sourcePort: port,
    destinationPort: peer.port,
    inner: { sender, receiver, packet },
  };
  const text = `encrypted to ${nameOfEnd(snapshot, peer)} by ${name}, to ${endpoint}`;
  return { text, key: peer.key, packet: outer, table: UNDERLAY_TABLE };
}

function decrypted(
  device: Device,
  { source, destinationPort }: CarriedPacket,
  { sender, receiver, packet }: EncryptedPacket,
): InnerPacket | LostPacket {
  const port = [...device.interfaces.values()].find(
    ({ wireguard: one }) => one?.publicKey === receiver && one.port === destinationPort,
  );
  const name = `WireGuard from ${source}`;
  if (!port?.wireguard) return { why: `${name} is for a key of no interface`, key: '' };
  const { key } = port;
  if (!port.up) return { why: `${port.name} is down`, key };
  const peer = port.wireguard.peers.find(({ publicKey }) => publicKey === sender);
  if (!peer) return { why: `${name} has a key of no peer of ${port.name}`, key };
  if (!isAllowed(peer, packet.source))
    return { why: `${name}: the source ${packet.source} is not allowed`, key: peer.key };
  return { text: `${name} is decrypted by ${port.name}`, key: peer.key, port, mac: '', packet };
}

/**
 * The packet in an outer one that a device has received.
 *
 * @param table in which it was looked up
 */
export function opened(
  device: Device,
  table: number,
  outer: CarriedPacket,
  inner: VxlanFrame | EncryptedPacket,
): InnerPacket | LostPacket {
  return 'vni' in inner
    ? decapsulated(device, table, outer, inner)
    : decrypted(device, outer, inner);
}
