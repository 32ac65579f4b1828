/** WireGuard between devices: the peers of an interface, and what it accepts from them. */
import { contains, parseCidr, parseIp } from '#models/ip.ts';
import { type WireguardPeer, wireguardPeerModel } from '#models/vpp/wireguard-peer.ts';
import type { Device, Snapshot, WireguardEnd } from './snapshot.ts';
import { valuesOf } from './values.ts';

/** @returns by name of the interface */
export function peersOfValues(
  all: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, readonly WireguardEnd[]> {
  const peers = [...valuesOf<WireguardPeer>(wireguardPeerModel, all)];
  const grouped = Map.groupBy(peers, ([, { wg_if_name }]) => wg_if_name);
  return new Map([...grouped].map(([name, own]) => [name, own.map(endOf)]));
}

function endOf([key, peer]: readonly [string, WireguardPeer]): WireguardEnd {
  const { public_key: publicKey, endpoint, port, allowed_ips: allowed } = peer;
  return { publicKey, endpoint, port, allowed, key };
}

export function isAllowed({ allowed }: WireguardEnd, address: string): boolean {
  const bytes = parseIp(address);
  return allowed.some((text) => {
    const cidr = parseCidr(text);
    return bytes !== undefined && cidr !== undefined && contains(cidr, bytes);
  });
}

/**
 * The peer of an interface of the table that has an address. Routes lead to it only while VPP has a session with it: if none does,
 * there is no session.
 */
export function peerOf(
  { interfaces }: Device,
  table: number,
  address: string,
): WireguardEnd | undefined {
  for (const { wireguard, table: own } of interfaces.values()) {
    const peer = own === table && wireguard?.peers.find((one) => isAllowed(one, address));
    if (peer) return peer;
  }
  return undefined;
}

/** The node whose VPP has the key; else the endpoint. */
export function nameOfEnd({ devices }: Snapshot, { publicKey, endpoint }: WireguardEnd): string {
  const holder = [...devices.values()].find(({ interfaces }) =>
    [...interfaces.values()].some(({ wireguard }) => wireguard?.publicKey === publicKey),
  );
  return holder?.name.split('/')[0] ?? endpoint;
}
