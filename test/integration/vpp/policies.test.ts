/** Network policies on two real nodes: which connections of pods and hosts pass, and which running ones are cut. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ClusterNetworkPolicy,
  clusterNetworkPolicyModel,
} from '#kubernetes/models/cluster-network-policy.ts';
import { namespaceModel } from '#kubernetes/models/namespace.ts';
import { podModel } from '#kubernetes/models/pod.ts';
import { type Policy, policyModel } from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { DeepInput } from '#models/model.ts';
import { serviceRecords } from '#test/services/compliance/records.ts';
import type { NodeName, Place, Protocol, Target } from '#test/services/service-cluster.ts';
import { withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealServiceCluster, type RunningFlow } from '../support/service-cluster.ts';

const CLUSTER_IP = '10.96.0.60';
const PORT = 8080;
const OTHER_PORT = 9090;
/** A connection over which nothing returned for so long is cut. */
const SILENCE_MS = 3000;
/** VPP is down and configured again within it, on a busy machine too. */
const RESTART_S = 20;

const pods = { a: 'node1', b: 'node1', x: 'node2', y: 'node2' } as const;
const [a, b, x, y] = [{ pod: 'a' }, { pod: 'b' }, { pod: 'x' }, { pod: 'y' }];
const [host1, host2] = [{ host: 'node1' }, { host: 'node2' }] as const;

const app = (name: string) => ({ match_label: [{ key: 'app', value: name }] });

describe('policies on real nodes', {
  skip: withoutNodes() || withoutVhostNet(),
  timeout: 240_000,
}, () => {
  let cluster: RealServiceCluster;

  const apply = (name: string, policy: DeepInput<Policy> | undefined) =>
    cluster.write({
      resource: resources.policy,
      name,
      value: policy && policyModel.canonical({ name, namespace: 'default', ...policy }),
    });
  const to = (place: Place, port = PORT, protocol: Protocol = 'TCP'): Target => ({
    address: cluster.addressOf(place),
    port,
    protocol,
  });
  const service: Target = { address: CLUSTER_IP, port: 80, protocol: 'TCP' };
  const connects = async (from: Place, target: Target) =>
    (await cluster.connect(from, target)).every(({ result }) => result === 'answered');
  /** Of several, by name, which ones are answered. */
  const answered = async (all: Readonly<Record<string, readonly [Place, Target]>>) => {
    const results = Object.entries(all).map(async ([name, [from, target]]) =>
      (await connects(from, target)) ? [name] : [],
    );
    return (await Promise.all(results)).flat();
  };

  before(async () => {
    cluster = await RealServiceCluster.start();
    for (const [name, node] of Object.entries(pods))
      await cluster.startPod(name, node as NodeName, [PORT, OTHER_PORT]);
    const records = Object.keys(pods).map((name) => ({
      resource: resources.pod,
      name,
      value: podModel.canonical({
        name,
        namespace: 'default',
        ip_address: cluster.addressOf({ pod: name }),
        label: [{ key: 'app', value: name }],
      }),
    }));
    const namespace = namespaceModel.canonical({ name: 'default' });
    await cluster.write({ resource: resources.namespace, name: 'default', value: namespace });
    await cluster.write(...records);
    await cluster.apply(
      serviceRecords(cluster, 'shop', {
        cluster_ip: CLUSTER_IP,
        ports: [{ port: 80, target: PORT }],
        backends: [x],
      }),
    );
  });
  after(() => cluster?.[Symbol.asyncDispose]());

  const onlyA = {
    pods: app('x'),
    policy_type: 'INGRESS',
    ingress_rule: [
      {
        from: [{ pods: app('a') }],
        port: [{ protocol: 'TCP', port: { type: 'NUMBER', number: PORT } }],
      },
    ],
  } as const;

  it('an ingress policy permits a pod and a port, at the address of the pod and of a service', async () => {
    const all = {
      'a to x': [a, to(x)],
      'a to x, other port': [a, to(x, OTHER_PORT)],
      'a to x, UDP': [a, to(x, PORT, 'UDP')],
      'a to service': [a, service],
      'b to x': [b, to(x)],
      'b to service': [b, service],
      'y to x': [y, to(x)],
      'x to a': [x, to(a)],
      'x to a, UDP': [x, to(a, PORT, 'UDP')],
      'x to y': [x, to(y)],
      'own host to x': [host2, to(x)],
      'other host to x': [host1, to(x)],
    } as const;
    assert.deepEqual(await answered(all), Object.keys(all));
    await apply('only-a', onlyA);
    assert.deepEqual(await answered(all), [
      'a to x',
      'a to service',
      'x to a',
      'x to a, UDP',
      'x to y',
      'own host to x',
    ]);
    for (const node of ['node1', 'node2'] as const)
      assert.deepEqual(await cluster.realNode(node).agent.drift(), []);
    await apply('only-a', undefined);
    assert.deepEqual(await answered(all), Object.keys(all));
  });

  it('an ACL that was taken off an interface is drift, which a downstream resync repairs', async () => {
    await apply('only-a', onlyA);
    const { agent, vpp } = cluster.realNode('node2');
    assert.deepEqual(await agent.drift(), []);
    const acls = await vpp.cli('show acl-plugin acl');
    const ofPod =
      /acl-index (\d+) .*tag \{contiv-policy-out-vpp-tap-[\s\S]*?applied outbound on sw_if_index: (\d+)/;
    const [, acl, index] = ofPod.exec(acls)!;
    const interfaces = await vpp.cli('show interface');
    const [, name] = new RegExp(`^(\\S+) +${index} +up`, 'm').exec(interfaces)!;
    await vpp.cli(`set acl-plugin interface ${name} output acl ${acl} del`);
    const drift = await agent.drift();
    assert.deepEqual(drift.length, 1);
    assert.match(drift[0]!, /^missing vpp\/acl\/.*policy-out-vpp-tap-.*\/egress\/vpp-tap-/);
    await agent.post('/scheduler/downstream-resync');
    assert.deepEqual(await agent.drift(), []);
    await apply('only-a', undefined);
  });

  /** Names of the flows that a change cuts; prints when. */
  const cutBy = async (
    flows: ReadonlyMap<string, RunningFlow>,
    change: () => Promise<void>,
    print: (line: string) => void,
  ) => {
    const start = Date.now();
    await change();
    await sleep(SILENCE_MS);
    const cut: string[] = [];
    for (const [name, flow] of flows) {
      const { lastReturnedAt } = await flow.report();
      if (Date.now() - lastReturnedAt < SILENCE_MS) continue;
      print(`${name} was cut ${lastReturnedAt - start} ms after the policy was written`);
      cut.push(name);
    }
    return cut;
  };
  const flowsOf = async (all: Readonly<Record<string, readonly [Place, Target]>>) => {
    const flows = new Map<string, RunningFlow>();
    for (const [name, [from, target]] of Object.entries(all))
      flows.set(name, await cluster.openFlow(from, target));
    return flows;
  };

  it('a running connection that a new ingress policy forbids is cut, and no other', async (t) => {
    const flows = await flowsOf({
      'a to x': [a, to(x)],
      'b to x': [b, to(x)],
      'y to x': [y, to(x)],
      'b to service': [b, service],
      'x to b': [x, to(b)],
      'x to y': [x, to(y)],
      'b to y': [b, to(y)],
    });
    const print = (line: string): void => t.diagnostic(line);
    const forbidden = ['b to x', 'y to x', 'b to service'];
    assert.deepEqual(await cutBy(flows, () => apply('only-a', onlyA), print), forbidden);
    const none = { ...onlyA, ingress_rule: [] };
    for (const name of forbidden) flows.delete(name);
    assert.deepEqual(await cutBy(flows, () => apply('only-a', none), print), ['a to x']);
    flows.delete('a to x');
    assert.deepEqual(await cutBy(flows, () => apply('only-a', undefined), print), []);
  });

  it('a running connection that a new egress policy forbids is cut, and no other', async (t) => {
    const flows = await flowsOf({
      'a to b': [a, to(b)],
      'a to x': [a, to(x)],
      'a to service': [a, service],
      'a to y': [a, to(y)],
      'b to a': [b, to(a)],
      'x to a': [x, to(a)],
      'b to x': [b, to(x)],
    });
    const onlyY = {
      pods: app('a'),
      policy_type: 'EGRESS',
      egress_rule: [{ to: [{ pods: app('y') }] }],
    } as const;
    const print = (line: string): void => t.diagnostic(line);
    assert.deepEqual(await cutBy(flows, () => apply('only-y', onlyY), print), [
      'a to b',
      'a to x',
      'a to service',
    ]);
    assert.ok(!(await connects(a, to(b))));
    assert.ok(await connects(a, to(y)));
    await apply('only-y', undefined);
    assert.ok(await connects(a, to(b)));
  });

  it('fragments pass beside a port of the same address that is denied', async () => {
    const nodePort = 30_503;
    await cluster.serve(host1, PORT);
    await cluster.apply(
      serviceRecords(cluster, 'hidden', {
        service_type: 'NodePort',
        cluster_ip: '10.96.0.61',
        ports: [{ port: 80, target: PORT, nodePort }],
        backends: [b],
      }),
    );
    await apply('none', { pods: app('b'), policy_type: 'INGRESS', ingress_rule: [] });
    assert.ok(!(await connects(a, to(host1, nodePort, 'UDP'))));
    assert.ok(await connects(a, { ...to(host1, PORT, 'UDP'), bytes: 3000 }));
    await apply('none', undefined);
    await cluster.apply({ name: 'hidden' });
  });

  it('a policy of the cluster that denies nodes holds for all their addresses, and not for what their hosts open', async (t) => {
    const link = (node: 1 | 2): Target => ({ ...to(a, OTHER_PORT), address: `172.30.${node}.2` });
    for (const host of [host1, host2]) await cluster.serve(host, OTHER_PORT);
    const running = await flowsOf({
      'a to own host': [a, to(host1, OTHER_PORT)],
      'a to link of own host': [a, link(1)],
      'own host to a': [host1, to(a)],
      'other host to a': [host2, to(a)],
      'b to own host': [b, to(host1, OTHER_PORT)],
    });
    const forbidden = {
      'a to own host': [a, to(host1, OTHER_PORT)],
      'a to own host, UDP': [a, to(host1, OTHER_PORT, 'UDP')],
      'a to link of own host': [a, link(1)],
      'a to other host': [a, to(host2, OTHER_PORT)],
      'a to link of other host': [a, link(2)],
    } as const;
    const permitted = {
      'own host to a': [host1, to(a)],
      'own host to a, UDP': [host1, to(a, PORT, 'UDP')],
      'other host to a': [host2, to(a)],
      'b to own host': [b, to(host1, OTHER_PORT)],
      'b to link of other host': [b, link(2)],
      'a to b': [a, to(b)],
      'a to x': [a, to(x)],
    } as const;
    const all = { ...forbidden, ...permitted };
    assert.deepEqual(await answered(all), Object.keys(all));
    const set = (value: ClusterNetworkPolicy | undefined) =>
      cluster.write({ resource: resources.clusternetworkpolicy, name: 'no-nodes', value });
    const policy = clusterNetworkPolicyModel.canonical({
      name: 'no-nodes',
      subject: { namespaces: {}, pods: app('a') },
      egress: [{ action: 'DENY', peer: [{ nodes: {} }] }],
    });
    const print = (line: string): void => t.diagnostic(line);
    assert.deepEqual(await cutBy(running, () => set(policy), print), [
      'a to own host',
      'a to link of own host',
    ]);
    assert.deepEqual(await answered(all), Object.keys(permitted));
    assert.deepEqual(await cluster.realNode('node1').agent.drift(), []);
    await set(undefined);
    assert.deepEqual(await answered(all), Object.keys(all));
  });

  it('nothing that is forbidden passes while VPP restarts', async (t) => {
    await apply('none', { pods: app('x'), policy_type: 'INGRESS', ingress_rule: [] });
    const vpp = cluster.vppOf('node2');
    const probes = Promise.all([
      cluster.probe(y, to(x), RESTART_S),
      cluster.probe(b, to(x), RESTART_S),
      cluster.probe(b, to(y), RESTART_S),
    ]);
    await vpp.kill();
    await vpp.start();
    await until('the permitted connection works again', () => connects(b, to(y)), 30_000);
    const [local, remote, permitted] = await probes;
    t.diagnostic(`${permitted.answered} of ${permitted.sent} permitted datagrams were answered`);
    assert.deepEqual([local.answered, remote.answered], [0, 0]);
    assert.ok(local.sent > 1000 && remote.sent > 1000 && permitted.answered > 0);
    await apply('none', undefined);
    assert.ok(await connects(b, to(x)));
  });
});
