/** Connections that were open before an interface had a table. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Acl, aclKey } from '#models/vpp/acl.ts';
import type { Connection } from '#plugins/controller/api/ports/host.ts';
import type { PermittedConnections } from '#plugins/controller/api/ports/vpp.ts';
import { MAX_KEPT } from '#plugins/policy/acl/kept-connections.ts';
import { NewPolicyTables } from '#plugins/policy/api.ts';
import { startedNode } from '../ipv4net/wired-node.ts';
import { addressOf, sorted, type TestNode } from '../test-node.ts';
import { ACK, boundRules, decide } from './acl/acl-evaluator.ts';
import { block, pod, policy, selector } from './policy-objects.ts';
import { recordOf } from './policy-records.ts';

const inDefault = { namespace: 'default' };
const denyAll = recordOf('policy', policy({ ...inDefault, name: 'deny' }));
const sendNothing = recordOf(
  'policy',
  policy({
    ...inDefault,
    pods: selector({ app: 'web' }),
    policy_type: 'EGRESS',
    egress_rule: [{ to: [block('192.0.2.0/24')] }],
  }),
);
const REMOTE = '198.51.100.7';

interface Started {
  readonly node: TestNode;
  readonly address: string;
  readonly namespace: string;
}

/** A node with a pod in the container c1. */
async function started(): Promise<Started> {
  const node = await startedNode();
  const address = addressOf(await node.add('web', 'c1'));
  await node.put(
    recordOf('pod', pod({ name: 'web', ...inDefault, labels: { app: 'web' }, ips: [address] })),
  );
  const [attachment] = node.pods.attachments().values();
  return { node, address, namespace: attachment!.networkNamespace };
}

function connection(
  address: string,
  openedBy: Connection['openedBy'],
  localPort: number,
  remotePort: number,
): Connection {
  return {
    local: { address, port: localPort },
    remote: { address: REMOTE, port: remotePort },
    openedBy,
  };
}

/** Whether a packet of an open connection passes the output of an interface. */
function passes(
  node: TestNode,
  name: string,
  [from, sourcePort]: readonly [string, number],
  [to, port]: readonly [string, number],
): boolean {
  const packet = { from, to, protocol: 'TCP', sourcePort, port, flags: ACK } as const;
  return decide(boundRules(acls(node), name, 'egress'), packet) !== 'DENY';
}

function acls(node: TestNode): readonly Acl[] {
  return [...node.config].flatMap(([key, value]) => (aclKey.parse(key) ? [value as Acl] : []));
}

/** As VPP reports the ACLs that are configured. */
function toldByVpp(node: TestNode): PermittedConnections[] {
  return acls(node).flatMap(({ name, rules, interfaces }) => {
    if (!interfaces?.egress?.length) return [];
    const connections = rules
      .filter(({ action }) => action === 'REFLECT')
      .map(({ ip_rule }) => ({
        source: {
          address: ip_rule!.ip!.source_network.split('/')[0]!,
          port: ip_rule!.tcp!.source_port_range!.lower_port,
        },
        destination: {
          address: ip_rule!.ip!.destination_network.split('/')[0]!,
          port: ip_rule!.tcp!.destination_port_range!.lower_port,
        },
      }));
    return [{ acl: name, connections }];
  });
}

const tableEvents = (node: TestNode): number =>
  node.processed.filter((id) => id === NewPolicyTables.id).length;

describe('connections that were open before a table', () => {
  it('of a pod continue if it has opened them', async () => {
    const { node, address, namespace } = await started();
    node.host.open.set(namespace, [
      connection(address, 'local', 40_000, 443),
      connection(address, 'remote', 80, 50_000),
      connection('127.0.0.1', 'local', 40_001, 443),
    ]);
    await node.put(denyAll);
    assert.equal(passes(node, 'vpp-tap-c1', [REMOTE, 443], [address, 40_000]), true);
    assert.equal(passes(node, 'vpp-tap-c1', [REMOTE, 443], [address, 40_001]), false);
    assert.equal(passes(node, 'vpp-tap-c1', [REMOTE, 50_000], [address, 80]), false);
    assert.deepEqual(
      toldByVpp(node).map(({ connections }) => connections.length),
      [1],
    );
  });

  it('to a pod continue if only where it may send to changes', async () => {
    const { node, address, namespace } = await started();
    node.host.open.set(namespace, [
      connection(address, 'local', 40_000, 443),
      connection(address, 'remote', 80, 50_000),
    ]);
    await node.put(sendNothing);
    const [link] = node.policies.node()!.interfaces;
    assert.equal(passes(node, link!, [address, 80], [REMOTE, 50_000]), true);
    assert.equal(passes(node, link!, [address, 40_000], [REMOTE, 443]), false);
    assert.equal(passes(node, 'vpp-tap-c1', [REMOTE, 443], [address, 40_000]), true);
  });

  it('to a pod continue if it is isolated after another one, and end with it', async () => {
    const { node, address, namespace } = await started();
    const other = addressOf(await node.add('db', 'c2'));
    const record = pod({ name: 'db', ...inDefault, labels: { app: 'db' }, ips: [other] });
    await node.put(recordOf('pod', record));
    const otherNamespace = [...node.pods.attachments().values()].find(
      (one) => one.pod.name === 'db',
    )!.networkNamespace;
    node.host.open.set(namespace, [connection(address, 'remote', 80, 50_000)]);
    node.host.open.set(otherNamespace, [connection(other, 'remote', 90, 50_001)]);
    await node.put(sendNothing);
    await node.put(
      recordOf(
        'policy',
        policy({
          ...inDefault,
          name: 'db',
          pods: selector({ app: 'db' }),
          policy_type: 'EGRESS',
          egress_rule: [{ to: [block('192.0.2.0/24')] }],
        }),
      ),
    );
    const [link] = node.policies.node()!.interfaces;
    const replies = () => [
      passes(node, link!, [address, 80], [REMOTE, 50_000]),
      passes(node, link!, [other, 90], [REMOTE, 50_001]),
    ];
    assert.deepEqual(replies(), [true, true]);
    const keptAtNode = () =>
      toldByVpp(node)
        .find(({ acl }) => acl.endsWith('NODE-GLOBAL'))!
        .connections.map(({ source }) => source.address);
    assert.deepEqual(keptAtNode().toSorted(), [address, other].toSorted());
    // its address may be that of another pod later
    await node.del('db', 'c2');
    assert.deepEqual(keptAtNode(), [address]);
  });

  it('stay in VPP when the agent restarts, without a change', async () => {
    const { node, address, namespace } = await started();
    node.host.open.set(namespace, [connection(address, 'local', 40_000, 443)]);
    await node.put(denyAll);
    node.vpp.permitted = toldByVpp(node);
    node.host.open.set(namespace, [
      connection(address, 'local', 40_000, 443),
      connection(address, 'local', 40_002, 443),
    ]);
    const restarted = node.restart();
    await restarted.resync(node.state());
    assert.deepEqual(sorted(restarted.config), sorted(node.config));
    assert.equal(tableEvents(restarted), 0);
  });

  it('are read again after a restart of VPP, which has no sessions any more', async () => {
    const { node, address, namespace } = await started();
    await node.put(denyAll);
    node.host.open.set(namespace, [connection(address, 'local', 40_002, 443)]);
    node.vpp.permitted = [];
    await node.heal();
    assert.equal(passes(node, 'vpp-tap-c1', [REMOTE, 443], [address, 40_002]), true);
  });

  it('have no rule any more when they are closed, from the next resync on', async () => {
    const { node, address, namespace } = await started();
    node.host.open.set(namespace, [connection(address, 'local', 40_000, 443)]);
    await node.put(denyAll);
    node.vpp.permitted = toldByVpp(node);
    node.host.open.delete(namespace);
    await node.heal();
    assert.equal(passes(node, 'vpp-tap-c1', [REMOTE, 443], [address, 40_000]), false);
  });

  it('end where the kernel does not report them; the pod is isolated', async () => {
    const { node, address } = await started();
    node.host.connections = () => Promise.reject(new Error('no such namespace'));
    const { warnings } = await node.put(denyAll);
    assert.deepEqual(warnings, ['CV_POLICY_CONNECTIONS_NOT_KEPT']);
    assert.equal(passes(node, 'vpp-tap-c1', [REMOTE, 443], [address, 40_000]), false);
    assert.equal(tableEvents(node), 1);
  });

  it('continue if the agent ended before it had read them', async () => {
    const { node, address, namespace } = await started();
    node.host.open.set(namespace, [connection(address, 'local', 40_000, 443)]);
    const told: PermittedConnections[][] = [];
    const connections = node.host.connections.bind(node.host);
    node.host.connections = (path) => {
      told.push(toldByVpp(node));
      return connections(path);
    };
    await node.put(denyAll);
    assert.equal(told.length, 1);
    node.vpp.permitted = told[0]!;
    const restarted = node.restart();
    await restarted.resync(node.state());
    assert.equal(passes(restarted, 'vpp-tap-c1', [REMOTE, 443], [address, 40_000]), true);
    assert.deepEqual(sorted(restarted.config), sorted(node.config));
  });

  it('continue if the kernel reports them only later', async () => {
    const { node, address, namespace } = await started();
    node.host.open.set(namespace, [connection(address, 'local', 40_000, 443)]);
    const connections = node.host.connections.bind(node.host);
    node.host.connections = () => Promise.reject(new Error('no answer'));
    await node.put(denyAll);
    assert.equal(passes(node, 'vpp-tap-c1', [REMOTE, 443], [address, 40_000]), false);
    node.vpp.permitted = toldByVpp(node);
    node.host.connections = connections;
    await node.heal();
    assert.equal(passes(node, 'vpp-tap-c1', [REMOTE, 443], [address, 40_000]), true);
  });

  it('continue if the kernel does not report them once', async () => {
    const { node, address, namespace } = await started();
    node.host.open.set(namespace, [connection(address, 'local', 40_000, 443)]);
    await node.put(denyAll);
    node.vpp.permitted = toldByVpp(node);
    node.host.connections = () => Promise.reject(new Error('no answer'));
    await node.heal();
    assert.equal(passes(node, 'vpp-tap-c1', [REMOTE, 443], [address, 40_000]), true);
  });

  it('continue although the pod has opened more than are kept, which come before', async () => {
    const { node, address, namespace } = await started();
    node.host.open.set(namespace, [connection(address, 'local', 60_000, 443)]);
    await node.put(denyAll);
    node.vpp.permitted = toldByVpp(node);
    const more = Array.from({ length: MAX_KEPT }, (_, port) =>
      connection(address, 'local', 40_000 + port, 443),
    );
    node.host.open.set(namespace, [...more, connection(address, 'local', 60_000, 443)]);
    await node.heal();
    assert.equal(passes(node, 'vpp-tap-c1', [REMOTE, 443], [address, 60_000]), true);
  });

  it('are reported if they are more than are kept', async () => {
    const { node, address, namespace } = await started();
    const all = Array.from({ length: MAX_KEPT + 1 }, (_, port) =>
      connection(address, 'local', 40_000 + port, 443),
    );
    node.host.open.set(namespace, all);
    const { warnings } = await node.put(denyAll);
    assert.deepEqual(warnings, ['CV_POLICY_CONNECTIONS_NOT_KEPT']);
    assert.equal(passes(node, 'vpp-tap-c1', [REMOTE, 443], [address, 40_000]), true);
  });

  it('are not asked for where a pod is isolated from its beginning', async () => {
    const node = await startedNode();
    await node.put(denyAll);
    await node.add('web', 'c1');
    assert.equal(tableEvents(node), 0);
  });
});
