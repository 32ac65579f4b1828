/** A policy of the cluster whose peers are nodes compares every address by which pods reach them, as nodes come and go. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Acl, aclKey } from '#models/vpp/acl.ts';
import { startedNode } from '../ipv4net/wired-node.ts';
import { addressOf, type KubeValue, sorted, type TestNode, vppNodeValue } from '../test-node.ts';
import { boundRules, decide } from './acl/acl-evaluator.ts';
import { clusterPolicy, namespace, node as nodeObject, pod, selector } from './policy-objects.ts';
import { recordOf } from './policy-records.ts';

const everything = { pods: {}, namespaces: {} };

const denyNodes = (role: string): KubeValue =>
  recordOf(
    'clusternetworkpolicy',
    clusterPolicy({
      subject: everything,
      egress: [{ action: 'DENY', peer: [{ nodes: selector({ role }) }] }],
    }),
  );

/** With its object, its interface to the other nodes, the overlay, both ends of its link to the host, and its pods. */
const addressesOfNode5 = [
  '10.20.0.5',
  '192.168.16.5',
  '192.168.30.5',
  '172.30.5.1',
  '172.30.5.2',
  '10.1.5.1',
];

async function nodeWithPod() {
  const node = await startedNode();
  const address = addressOf(await node.add('a', 'c1'));
  await node.put(recordOf('namespace', namespace('default')));
  await node.put(recordOf('pod', pod({ name: 'a', namespace: 'default', ips: [address] })));
  return { node, address };
}

/** Those of the addresses that the tables of the node deny. */
function denied(node: TestNode, from: string, addresses: readonly string[]): string[] {
  const acls = [...node.config].flatMap(([key, value]) =>
    aclKey.parse(key) ? [value as Acl] : [],
  );
  const { interfaces, hostLink } = node.policies.node()!;
  return addresses.filter((to) =>
    [interfaces[0]!, hostLink].some((name) => {
      const rules = acls.some((acl) => acl.interfaces?.egress.includes(name))
        ? boundRules(acls.values(), name, 'egress')
        : [];
      const packet = { from, to, protocol: 'TCP', sourcePort: 4000, port: 22 } as const;
      return rules.length > 0 && decide(rules, packet) === 'DENY';
    }),
  );
}

describe('a Deny of nodes', () => {
  it('holds for all addresses of another node, from its first record to its last', async () => {
    const { node, address } = await nodeWithPod();
    const of = () => denied(node, address, addressesOfNode5);
    await node.put(denyNodes('edge'));
    assert.deepEqual(of(), []);
    const record = vppNodeValue(5, 'node-e', '192.168.16.5/24');
    // nothing is known about its labels
    await node.put(record);
    assert.deepEqual(of(), addressesOfNode5.slice(1));
    const object = recordOf('node', nodeObject('node-e', ['10.20.0.5'], { role: 'edge' }));
    await node.put(object);
    assert.deepEqual(of(), addressesOfNode5);
    assert.deepEqual(denied(node, address, ['10.1.5.7', '172.30.3.1', '192.168.16.3']), []);
    const before = sorted(node.config);
    await node.heal();
    assert.deepEqual(sorted(node.config), before);
    await node.put(recordOf('node', nodeObject('node-e', ['10.20.0.5'], { role: 'inner' })));
    assert.deepEqual(of(), []);
    await node.put(object);
    await node.remove(record);
    assert.deepEqual(of(), ['10.20.0.5']);
  });

  it('holds after a record of the same node in another case was deleted', async () => {
    const { node, address } = await nodeWithPod();
    const of = () => denied(node, address, [...addressesOfNode5, '172.30.6.1']);
    await node.put(denyNodes('edge'));
    await node.put(recordOf('node', nodeObject('node-e', ['10.20.0.5'], { role: 'edge' })));
    await node.put(vppNodeValue(5, 'node-e', '192.168.16.5/24'));
    const left = vppNodeValue(6, 'Node-E', '192.168.16.6/24');
    await node.put(left);
    assert.deepEqual(of(), [...addressesOfNode5, '172.30.6.1']);
    const before = sorted(node.config);
    await node.heal();
    assert.deepEqual(sorted(node.config), before);
    await node.remove(left);
    assert.deepEqual(of(), addressesOfNode5);
  });

  it('does not hold for an address that another node announces while it is one of this node', async () => {
    const { node, address } = await nodeWithPod();
    const shared = '172.16.0.9';
    const of = () => denied(node, address, [shared]);
    const own = (...addresses: string[]) =>
      node.put(recordOf('node', nodeObject('node-a', addresses, { role: 'inner' })));
    const hostLinks = [{ name: 'eth0', mtu: 1500, addresses: ['172.16.0.5/24'] }];
    await own('172.16.0.5');
    await node.put(denyNodes('edge'));
    await node.put(vppNodeValue(5, 'node-e', `${shared}/24`));
    await node.put(recordOf('node', nodeObject('node-e', ['10.20.0.5'], { role: 'edge' })));
    assert.deepEqual(of(), [shared]);
    node.host.hostLinks = [{ ...hostLinks[0]!, addresses: ['172.16.0.5/24', `${shared}/24`] }];
    await own('172.16.0.5', shared);
    assert.deepEqual(of(), []);
    const before = sorted(node.config);
    await node.heal();
    assert.deepEqual(sorted(node.config), before);
    node.host.hostLinks = hostLinks;
    await own('172.16.0.5');
    assert.deepEqual(of(), [shared]);
  });

  it('holds for the host of this node, which pods reach by its link alone', async () => {
    const { node, address } = await nodeWithPod();
    const own = ['192.168.16.1', '172.30.1.1', '172.30.1.2', '172.16.0.5'];
    const of = () => denied(node, address, own);
    await node.put(recordOf('node', nodeObject('node-a', ['172.16.0.5'], { role: 'edge' })));
    assert.deepEqual(of(), []);
    await node.put(denyNodes('edge'));
    assert.deepEqual(of(), own);
    const before = sorted(node.config);
    await node.heal();
    assert.deepEqual(sorted(node.config), before);
    await node.put(denyNodes('inner'));
    assert.deepEqual(of(), []);
    const bound = [...node.config.values()].filter((value) =>
      (value as Acl).interfaces?.egress?.includes(node.policies.node()!.hostLink),
    );
    assert.deepEqual(bound, [], 'packets to the host pay for no ACL then');
  });
});
