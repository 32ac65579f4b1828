/**
 * Keys of objects in VPP that only the agent makes, or the original agent before it: names that contain a node
 * or a container, and those of services and policies. They need no record, so they are recognized
 * although the local store was lost.
 */
import { aclKey } from '#models/vpp/acl.ts';
import { bridgeDomainKey } from '#models/vpp/bridge-domain.ts';
import { dnat44Key } from '#models/vpp/dnat44.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { vrfTableKey } from '#models/vpp/vrf-table.ts';
import { podLinkNaming } from './link-naming.ts';
import {
  hostTap,
  hostVeth,
  LOOPBACK_NIC,
  POD_GATEWAY_LOOPBACK,
  VXLAN_BRIDGE_DOMAIN,
  VXLAN_BVI,
} from './names.ts';

const interfaces = new Set([
  LOOPBACK_NIC,
  POD_GATEWAY_LOOPBACK,
  VXLAN_BVI,
  hostTap.vpp,
  hostVeth.vpp,
]);
const TUNNEL = /^(vxlan-default-\d+|wireguard[01])$/;

/**
 * Of services: `DNAT-identities`, `DNAT-identities/<address>`, or `<namespace>/<name>`, whose end a tag may
 * have replaced by a hash.
 */
const SERVICE_LABEL = /^(DNAT-identities(\/[\d.]+)?|[a-z0-9-]+\/[a-z0-9.-]+(~[0-9a-f]{16})?)$/;
const POLICY_ACL = /^~?contiv-policy-/;

export function isAgentKey(key: string): boolean {
  const iface = vppInterfaceKey.parse(key)?.name;
  if (iface !== undefined) return isInterface(iface);
  const label = dnat44Key.parse(key)?.label;
  if (label !== undefined) return SERVICE_LABEL.test(label);
  if (aclKey.parse(key) !== undefined) return isPolicyAclKey(key);
  // table 0 always exists: a record would say nothing
  if (vrfTableKey.parse(key)?.id === '0') return true;
  return bridgeDomainKey.parse(key)?.name === VXLAN_BRIDGE_DOMAIN;
}

/** The ACL carries policies. */
export function isPolicyAclKey(key: string): boolean {
  const acl = aclKey.parse(key)?.name;
  return acl !== undefined && POLICY_ACL.test(acl);
}

function isInterface(name: string): boolean {
  return (
    interfaces.has(name) || TUNNEL.test(name) || podLinkNaming.ofVppInterface(name) !== undefined
  );
}
