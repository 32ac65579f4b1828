/** The session tables of NAT44 and of ACLs, which one sender has filled: what continues, and what does not. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pod } from '#test/plugins/policy/policy-objects.ts';
import { only, writePolicy } from '#test/policies/compliance/policy-suite.ts';
import { a, b, c, serviceRecords, x } from '#test/services/compliance/records.ts';
import type { OpenConnections, Place } from '#test/services/service-cluster.ts';
import { withoutNodes, withoutSocketHooks, withoutVhostNet } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { flood, interfaceTo } from '../support/datagram-flood.ts';
import { RealServiceCluster } from '../support/service-cluster.ts';

const PORT = 8080;
const NODE_PORT = 30_080;
const SESSIONS = 256;
const FLOWS = 2000;

const skip = withoutNodes() || withoutVhostNet() || withoutSocketHooks();

async function startPods(cluster: RealServiceCluster): Promise<void> {
  for (const [name, node] of [
    ['a', 'node1'],
    ['b', 'node1'],
    ['c', 'node1'],
    ['x', 'node2'],
  ] as const) {
    const record = pod({ name, namespace: 'default', labels: { app: name } });
    await cluster.startPod(name, node, [PORT], record);
  }
  await cluster.serve('outside', PORT);
}

const count = (answered: readonly { readonly result: string }[]): number =>
  answered.filter(({ result }) => result === 'answered').length;

/** How many of three connections over TCP and of three over UDP are answered. */
async function answered(
  cluster: RealServiceCluster,
  from: Place,
  to: Place | string,
  port = PORT,
): Promise<number> {
  const address = typeof to === 'string' && to !== 'outside' ? to : cluster.addressOf(to as Place);
  const all = await Promise.all(
    (['TCP', 'UDP'] as const).map((protocol) =>
      cluster.connect(from, { address, port, protocol }, 3),
    ),
  );
  return count(all.flat());
}

describe('a full session table of NAT44', { skip, timeout: 400_000 }, () => {
  let cluster: RealServiceCluster;

  before(async () => {
    const service = { natSessionTableSize: SESSIONS };
    cluster = await RealServiceCluster.start({ sockets: true, service });
    await startPods(cluster);
    const ports = [{ port: 80, target: PORT, nodePort: NODE_PORT }];
    const input = {
      service_type: 'NodePort',
      cluster_ip: '10.96.1.10',
      ports,
      backends: [b],
    } as const;
    await cluster.apply(serviceRecords(cluster, 'web', input));
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  it('refuses what needs a session, and keeps the overlay and open connections', async () => {
    const vpp = cluster.vppOf('node1');
    const node = cluster.vppAddressOf('node1');
    const outside = cluster.addressOf('outside');
    const tcp = (address: string, port = PORT) => ({ address, port, protocol: 'TCP' }) as const;
    const open: Record<string, OpenConnections> = {
      'pod to outside': await cluster.open(b, tcp(outside), 5),
      'outside to pod': await cluster.open('outside', tcp(cluster.addressOf(b)), 5),
      'node port': await cluster.open('outside', tcp(node, NODE_PORT), 5),
      'other node': await cluster.open(b, tcp(cluster.addressOf(x)), 5),
    };
    for (const [name, { answers }] of Object.entries(open)) assert.equal(count(answers), 5, name);

    const source = cluster.addressOf(a);
    const from = await interfaceTo(vpp, source);
    await flood(vpp, { interface: from, source, destination: outside, count: FLOWS });
    assert.match(await vpp.cli('show nat44 summary'), /^total sessions: 240 /m);

    // new connections that NAT44 would translate, of other senders, too
    assert.equal(await answered(cluster, b, 'outside'), 0);
    assert.equal(await answered(cluster, 'outside', b), 0);
    assert.equal(await answered(cluster, 'outside', node, NODE_PORT), 0);
    // those that it would not
    assert.equal(await answered(cluster, b, x), 6);
    assert.equal(await answered(cluster, x, b), 6);
    assert.equal(await answered(cluster, a, b), 6);
    assert.equal(await answered(cluster, a, '10.96.1.10', 80), 6);
    for (const [name, connections] of Object.entries(open))
      assert.deepEqual(await connections.broken(), [], name);
  });
});

describe('a full session table of ACLs', { skip, timeout: 400_000 }, () => {
  let cluster: RealServiceCluster;

  before(async () => {
    cluster = await RealServiceCluster.start({ sockets: true });
    await startPods(cluster);
    await cluster.vppOf('node1').cli(`set acl-plugin session table max-entries ${SESSIONS}`);
    for (const name of ['a', 'b'])
      await writePolicy(cluster, `isolate-${name}`, {
        ...only(name),
        policy_type: 'INGRESS',
        ingress_rule: [{ port: [{ protocol: 'TCP', port: { number: PORT } }] }],
      });
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  it('refuses new connections of isolated pods until sessions expire, and nothing else', async () => {
    const vpp = cluster.vppOf('node1');
    const tcp = (at: Place) =>
      ({ address: cluster.addressOf(at), port: PORT, protocol: 'TCP' }) as const;
    const opened = await cluster.open(b, tcp(c), 5);
    const accepted = await cluster.open(c, tcp(b), 5);
    assert.equal(count(opened.answers) + count(accepted.answers), 10);

    const source = cluster.addressOf(a);
    const from = await interfaceTo(vpp, source);
    await flood(vpp, { interface: from, source, destination: cluster.addressOf(c), count: FLOWS });
    assert.match(await vpp.cli('show errors'), /too many sessions to add new/);

    assert.equal(count(await cluster.connect(b, tcp(c), 3)), 0);
    assert.equal(count(await cluster.connect(b, tcp(x), 3)), 0);
    assert.equal(count(await cluster.connect(c, tcp(b), 3)), 3);
    assert.equal(count(await cluster.connect(x, tcp(b), 3)), 3);
    assert.equal(await answered(cluster, c, x), 6);
    assert.deepEqual(await opened.broken(), []);
    assert.deepEqual(await accepted.broken(), []);

    await vpp.cli('set acl-plugin session timeout udp idle 2');
    await sleep(2000);
    await until('sessions have expired', async () => count(await cluster.connect(b, tcp(c))) === 1);
  });
});
