import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aclKey } from '#models/vpp/acl.ts';
import { bridgeDomainKey } from '#models/vpp/bridge-domain.ts';
import { dnat44Key, dnat44Model } from '#models/vpp/dnat44.ts';
import { vppInterfaceKey } from '#models/vpp/interface.ts';
import { vrfTableKey } from '#models/vpp/vrf-table.ts';
import { isAgentKey } from '#plugins/ipv4net/agent-keys.ts';
import { podLinkNames, vxlanTunnel } from '#plugins/ipv4net/names.ts';
import { mappingTag } from '#vpp/descriptors/nat44/mapping-tag.ts';
import { tagOf } from '#vpp/descriptors/tags.ts';

const iface = (name: string) => vppInterfaceKey.build({ name });
const bridge = (name: string) => bridgeDomainKey.build({ name });
const dnat = (label: string) => dnat44Key.build({ label });
const acl = (name: string) => aclKey.build({ name });
const links = ['eth0', 'net1'].flatMap((interfaceName) =>
  [true, false].map(
    (useTap) => podLinkNames({ containerId: 'c'.repeat(64), interfaceName }, useTap).vpp,
  ),
);
const [affine] = dnat44Model.canonical({
  st_mappings: [{ session_affinity: 10_800, local_ips: [{}, {}] }],
}).st_mappings;
const longLabel = `kube-system/${'s'.repeat(63)}`;

for (const [title, keys, isOwn] of [
  ['links of pods', links.map(iface), true],
  ['the interfaces of a node', [...['podGwLoop', 'vxlanBVI', 'loopbackNIC'].map(iface)], true],
  ['the links to the host', ['tap-vpp2', 'afpacket-vpp2'].map(iface), true],
  ['tunnels to nodes', [iface(vxlanTunnel(7))], true],
  ['the bridge domain of the overlay', [bridge('vxlanBD')], true],
  ['services', [dnat('default/web'), dnat(tagOf(longLabel))], true],
  ['identities', [dnat('DNAT-identities'), dnat('DNAT-identities/203.0.113.50')], true],
  [
    'a service with a long name and session affinity',
    [dnat(mappingTag(longLabel, affine!).split(' @')[0]!)],
    true,
  ],
  ['policies', [acl('contiv-policy-REFLECTION'), acl('~contiv-policy-NODE-CLIENTS')], true],
  ['names of an operator', [iface('loop1'), bridge('bd1'), dnat('web'), acl('web')], false],
  ['a path of three parts', [dnat('a/b/c')], false],
  ['table 0', [vrfTableKey.build({ id: 0, protocol: 'IPV4' })], true],
  ['other tables', [vrfTableKey.build({ id: 1, protocol: 'IPV4' })], false],
] as const)
  test(`${title} ${isOwn ? 'have names of the agent' : 'need a record'}`, () => {
    for (const key of keys) assert.equal(isAgentKey(key), isOwn, key);
  });
