/** The ACLs of a node in its trace document: as VPP reports them, and as they are configured. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { aclModel } from '#models/vpp/acl.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import type { AclConfig } from '#packet-trace/acl-config.ts';
import { clusterSnapshot } from '#packet-trace/cluster.ts';
import { type NodeSnapshot, nodeValues } from '#packet-trace/node-document.ts';
import { makeNode, type RunningAgent, startAgent } from './harness.ts';

const loop = vppInterfaceModel.canonical({
  name: 'loop1',
  type: 'SOFTWARE_LOOPBACK',
  enabled: true,
  ip_addresses: ['10.9.0.1/24'],
});
const acls = [
  aclModel.canonical({
    name: 'first',
    rules: [
      { action: 'REFLECT', ip_rule: { tcp: { tcp_flags_mask: 18, tcp_flags_value: 2 } } },
      { action: 'PERMIT', ip_rule: { ip: { source_network: '10.1.0.0/16', protocol: 132 } } },
    ],
    interfaces: { ingress: ['loop1'] },
  }),
  aclModel.canonical({
    name: 'second',
    rules: [{ action: 'DENY', ip_rule: { ip: { source_network: '::/0' } } }],
    interfaces: { egress: ['loop1'] },
  }),
  aclModel.canonical({ name: 'third', rules: [{}] }),
];
const values = Object.fromEntries([
  [vppInterfaceModel.key(loop), loop],
  ...acls.map((value) => [aclModel.key(value), value]),
]);

async function aclsOf(running: RunningAgent, view: 'SB' | 'NB'): Promise<AclConfig | undefined> {
  const { body } = await running.get(`/trace/node?view=${view}`);
  const snapshot = clusterSnapshot({ nodes: [nodeValues(body as NodeSnapshot)] });
  return snapshot.devices.get('node1/vpp')?.acls;
}

/** The rules of the interface that matter for packets: networks are always given, and a PERMIT of TCP has no flags. */
function bound(config: AclConfig | undefined): unknown {
  const byName = new Map(config?.acls.map((acl) => [acl.name, acl]));
  const own = config?.bindings.filter((binding) => binding.interface === loop.name);
  return own?.map(({ interface: name, input, output }) => ({
    name,
    ...{ input, output },
    acls: [...input, ...output].map((acl) => {
      const { key, rules = [] } = byName.get(acl) ?? {};
      return {
        key,
        rules: rules.map(({ action, ip_rule }) => {
          const { protocol = 0, source_network = '' } = ip_rule?.ip ?? {};
          return [action, protocol, source_network || '0.0.0.0/0', ip_rule?.tcp?.tcp_flags_mask];
        }),
      };
    }),
  }));
}

it('the ACLs that VPP reports are those that are configured', async () => {
  const source = { label: 'operator', snapshot: async () => values };
  await using running = await startAgent(makeNode(), { externalSources: [source] });
  const [found, wanted] = [await aclsOf(running, 'SB'), await aclsOf(running, 'NB')];
  assert.deepEqual(bound(wanted), [
    {
      name: 'loop1',
      input: ['first'],
      output: ['second'],
      acls: [
        {
          key: 'config/vpp/acls/v2/acl/first',
          rules: [
            ['REFLECT', 0, '0.0.0.0/0', 18],
            ['PERMIT', 132, '10.1.0.0/16', undefined],
          ],
        },
        { key: 'config/vpp/acls/v2/acl/second', rules: [['DENY', 0, '::/0', undefined]] },
      ],
    },
  ]);
  assert.deepEqual(bound(found), bound(wanted));
});
