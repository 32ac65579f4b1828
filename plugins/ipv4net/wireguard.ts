/** Interfaces of WireGuard, and the other nodes as their peers. */
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import { wireguardPeerModel } from '#models/vpp/wireguard-peer.ts';
import { type KeyValue, keyValue } from '#plugins/controller/api/key-value.ts';
import type { Node } from '#plugins/nodesync/api.ts';
import { POD_GATEWAY_LOOPBACK, wireguardInterface } from './names.ts';
import { hostNetwork, type NodeInput, nodeIp, withoutPrefixLength } from './node-input.ts';
import type { PeerKey } from './peer-keys.ts';

/**
 * Seconds. A session without packets ends after three minutes, and that of a slot that is not used must be there when the other
 * one gets a new key.
 */
const KEEPALIVE = 25;

export function wireguardInterfaces(input: NodeInput): KeyValue[] {
  const { wireguard, routing, interfaces } = input;
  const own = nodeIp(input);
  // without an address there are no peers
  if (wireguard === undefined || own === undefined) return [];
  return wireguard.keys.map(({ slot, publicKey }) =>
    keyValue(vppInterfaceModel, {
      name: wireguardInterface(slot),
      type: 'WIREGUARD_TUNNEL',
      enabled: true,
      vrf: routing.podVrf,
      unnumbered: { interface_with_ip: POD_GATEWAY_LOOPBACK },
      mtu: interfaces.mtu,
      wireguard: { src_addr: own, port: wireguard.port + slot, public_key: publicKey },
    }),
  );
}

/**
 * The sessions with a node. The networks that it may send from are those of the address plan, by its ID, and addresses of it
 * that no other node has: VPP also finds the peer of a next hop by them.
 * @param networks of its pods and of the link to its host
 * @param hosts addresses of its VPP and its host, without prefix length; see `MAX_ADDRESSES`
 */
export function peerValues(
  input: NodeInput,
  node: Node,
  address: string,
  peers: readonly PeerKey[],
  networks: readonly string[],
  hosts: readonly string[],
): KeyValue[] {
  const overlay = input.networks.map(({ addresses }) =>
    withoutPrefixLength(addresses.vxlanAddress(node.id)),
  );
  const allowed = [...overlay, ...hosts].map(hostNetwork);
  return peers.map(({ slot, publicKey, port }) =>
    keyValue(wireguardPeerModel, {
      wg_if_name: wireguardInterface(slot),
      public_key: publicKey,
      endpoint: address,
      port,
      persistent_keepalive: KEEPALIVE,
      allowed_ips: [...new Set([...networks, ...allowed])],
      next_hops: overlay,
    }),
  );
}
