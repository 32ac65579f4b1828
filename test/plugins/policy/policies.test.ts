import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Acl, aclKey } from '#models/vpp/acl.ts';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import { Shutdown } from '#plugins/controller/api/events.ts';
import { startedNode } from '../ipv4net/wired-node.ts';
import { endpointsValue, localPod, remotePod, serviceValue } from '../service/service-values.ts';
import { addressOf, type KubeValue, sorted, type TestNode } from '../test-node.ts';
import { ACK, boundRules, decide, SYN } from './acl/acl-evaluator.ts';
import { block, namespace, namespaces, pod, pods, policy, selector } from './policy-objects.ts';
import { recordOf } from './policy-records.ts';
import { somePolicy } from './random-objects.ts';

const inDefault = { namespace: 'default' };
const tcp80 = { port: { number: 80 } };

const record = (name: string, ip: string, labels: Record<string, string> = {}) =>
  recordOf('pod', pod({ name, ...inDefault, labels, ips: ip === '' ? [] : [ip] }));

const denyAll = recordOf('policy', policy({ ...inDefault, name: 'deny' }));
const webFromClients = recordOf(
  'policy',
  policy({
    ...inDefault,
    name: 'web',
    pods: selector({ app: 'web' }),
    ingress_rule: [{ from: [pods({ app: 'client' })], port: [tcp80] }],
  }),
);

/** Whether the tables of a node let a connection of TCP through to a pod. */
function reaches(node: TestNode, from: string, to: string, container: string, port = 80): boolean {
  const packet = { from, to, protocol: 'TCP' as const, sourcePort: 40_000, port };
  const rules = boundRules(acls(node).values(), `vpp-tap-${container}`, 'egress');
  return decide(rules, packet) === 'PERMIT';
}

function acls(node: Pick<TestNode, 'config'>): Map<string, Acl> {
  return new Map(
    [...node.config].flatMap(([key, value]): [string, Acl][] =>
      aclKey.parse(key) ? [[key, value as Acl]] : [],
    ),
  );
}

const aclNames = (values: ReadonlyMap<string, unknown>): string[] =>
  [...values.keys()].flatMap((key) => aclKey.parse(key)?.name ?? []);

async function added(node: TestNode, name: string, container: string): Promise<string> {
  return addressOf(await node.add(name, container));
}

/** A policy that limits where pods with the label app=a may send to. */
const egressOfA = (cidr: string): KubeValue =>
  recordOf(
    'policy',
    policy({
      ...inDefault,
      pods: selector({ app: 'a' }),
      policy_type: 'EGRESS',
      egress_rule: [{ to: [block(cidr)] }],
    }),
  );

/** The decision about a packet that opens a connection, where it enters from a pod. */
function opens(node: TestNode, container: string, to: string): string {
  const packet = { from: '10.1.1.2', to, protocol: 'TCP', sourcePort: 4000, port: 80 } as const;
  return passing(
    decide(boundRules(acls(node).values(), `vpp-tap-${container}`, 'ingress'), packet),
  );
}

/** With a session or without. */
function passing(action: string): string {
  return action === 'DENY' ? action : 'PASS';
}

describe('network policies', () => {
  it('stay in force when a resync cannot calculate them because of a defect', async () => {
    const node = await startedNode();
    await node.put(denyAll);
    await node.put(record('web', '', { app: 'web' }));
    const address = await added(node, 'web', 'c1');
    // no producer sends such a state
    const broken: KubeValue = { ...webFromClients, value: null as never };
    const { error } = await node.resync([...node.state(), broken]);
    assert.equal(reaches(node, '10.1.1.9', address, 'c1'), false);
    assert.ok(error instanceof AbortEventError && error.cause instanceof TypeError);
  });

  it('isolate a pod from the moment at which it is added, before its record has an address', async () => {
    const node = await startedNode();
    await node.put(denyAll);
    await node.put(record('web', '', { app: 'web' }));
    const address = await added(node, 'web', 'c1');
    assert.equal(reaches(node, '10.1.1.9', address, 'c1'), false);
    await node.put(webFromClients);
    await node.put(record('client', '10.1.2.7', { app: 'client' }));
    assert.equal(reaches(node, '10.1.2.7', address, 'c1'), true);
    assert.equal(reaches(node, '10.1.2.7', address, 'c1', 81), false);
    assert.equal(reaches(node, '10.1.2.8', address, 'c1'), false);
  });

  it('isolate a pod without a record in a namespace with policies', async () => {
    const node = await startedNode();
    await node.put(webFromClients);
    const address = await added(node, 'unknown', 'c1');
    assert.equal(reaches(node, '10.1.2.7', address, 'c1'), false);
  });

  it('let the node reach its pods, and a pod itself through a service', async () => {
    const node = await startedNode();
    await node.put(denyAll);
    const address = await added(node, 'web', 'c1');
    const own = ['192.168.16.1', '172.30.1.1', '172.30.1.2', '172.16.0.5', '10.1.1.254'];
    for (const from of own) assert.equal(reaches(node, from, address, 'c1', 9), true, from);
    assert.equal(reaches(node, '172.16.0.6', address, 'c1', 9), false);
  });

  it('limit where a pod may send to, on this node and outside of it', async () => {
    const node = await startedNode();
    const a = await added(node, 'a', 'c1');
    const b = await added(node, 'b', 'c2');
    await node.put(record('a', a, { app: 'a' }));
    await node.put(record('b', b, { app: 'b' }));
    await node.put(
      recordOf(
        'policy',
        policy({
          ...inDefault,
          name: 'egress',
          pods: selector({ app: 'a' }),
          policy_type: 'EGRESS',
          egress_rule: [{ to: [block('198.51.100.0/24'), pods({ app: 'b' })], port: [tcp80] }],
        }),
      ),
    );
    assert.equal(reaches(node, a, b, 'c2'), true);
    assert.equal(reaches(node, a, b, 'c2', 81), false);
    assert.equal(reaches(node, b, a, 'c1', 81), true);
    const global = acls(node).get(aclKey.build({ name: 'contiv-policy-NODE-GLOBAL' }))!;
    const sends = (from: string, to: string, port: number) =>
      decide(global.rules, { from, to, protocol: 'TCP', sourcePort: 40_000, port });
    assert.equal(sends(a, '198.51.100.9', 80), 'PERMIT');
    assert.equal(sends(a, '198.51.100.9', 81), 'DENY');
    assert.equal(sends(b, '198.51.100.9', 81), 'PERMIT');
    assert.deepEqual(global.interfaces!.egress, node.policies.node()!.interfaces.toSorted());
  });

  it('change only the tables that they concern', async () => {
    const node = await startedNode();
    const web = await added(node, 'web', 'c1');
    const other = await added(node, 'other', 'c2');
    await node.put(record('web', web, { app: 'web' }));
    await node.put(record('other', other));
    const first = await node.put(webFromClients);
    assert.deepEqual(aclNames(first.txn.values), [
      'contiv-policy-out-vpp-tap-c1',
      'contiv-policy-reflection-vpp-tap-c1',
    ]);
    assert.deepEqual(first.changes, ['policy: policies of pods: default/web']);
    const client = await node.put(record('client', '10.1.2.7', { app: 'client' }));
    assert.deepEqual(aclNames(client.txn.values), ['contiv-policy-out-vpp-tap-c1']);
    const unrelated = await node.put(record('stranger', '10.1.2.8', { app: 'stranger' }));
    assert.deepEqual(aclNames(unrelated.txn.values), []);
    const space = await node.put(recordOf('namespace', namespace('red', { team: 'red' })));
    assert.deepEqual(aclNames(space.txn.values), []);
  });

  it('end with a resync from a database that no longer has them', async () => {
    const node = await startedNode();
    await node.put(denyAll);
    const address = await added(node, 'web', 'c1');
    await node.put(record('web', address, { app: 'web' }));
    assert.equal(reaches(node, '10.1.1.9', address, 'c1'), false);
    await node.resync(node.state().filter(({ resource }) => resource !== 'policy'));
    assert.equal(reaches(node, '10.1.1.9', address, 'c1'), true);
  });

  it('follow the labels of namespaces', async () => {
    const node = await startedNode();
    const web = await added(node, 'web', 'c1');
    await node.put(record('web', web, { app: 'web' }));
    const remote = pod({ name: 'client', namespace: 'red', ips: ['10.1.2.7'] });
    await node.put(recordOf('pod', remote));
    await node.put(
      recordOf(
        'policy',
        policy({ ...inDefault, ingress_rule: [{ from: [namespaces({ team: 'red' })] }] }),
      ),
    );
    assert.equal(reaches(node, '10.1.2.7', web, 'c1'), false);
    await node.put(recordOf('namespace', namespace('red', { team: 'red' })));
    assert.equal(reaches(node, '10.1.2.7', web, 'c1'), true);
    await node.remove(recordOf('namespace', namespace('red')));
    assert.equal(reaches(node, '10.1.2.7', web, 'c1'), false);
  });

  it('are those of before when Add Pod is reverted', async () => {
    const node = await startedNode();
    const web = await added(node, 'web', 'c1');
    await node.put(record('web', web, { app: 'web' }));
    await node.put(denyAll);
    const before = sorted(node.config);
    node.rejects = () => true;
    const { error, reverts } = await node.add('client', 'c2');
    assert.notEqual(error, undefined);
    assert.deepEqual(reverts, []);
    node.rejects = () => false;
    assert.equal(node.policies.policies().size, 1);
    await node.heal();
    assert.deepEqual(sorted(node.config), before);
  });

  it('are put with all values of the pod that is added again', async () => {
    const node = await startedNode();
    await node.put(denyAll);
    await added(node, 'web', 'c1');
    const { txn } = await node.add('web', 'c1');
    assert.deepEqual(aclNames(txn.values), [
      'contiv-policy-out-vpp-tap-c1',
      'contiv-policy-reflection-vpp-tap-c1',
    ]);
  });

  it('leave nothing of a deleted pod, nor of anything after a cleanup', async () => {
    const node = await startedNode();
    const web = await added(node, 'web', 'c1');
    await node.put(record('web', web, { app: 'web' }));
    await node.put(denyAll);
    await node.del('web', 'c1');
    assert.deepEqual(aclNames(node.config), []);
    await added(node, 'web', 'c2');
    assert.notDeepEqual(aclNames(node.config), []);
    await node.run(Shutdown.event({ cleanup: true }));
    assert.deepEqual(aclNames(node.config), []);
  });

  it('that are not carried as defined are reported until they are', async () => {
    const node = await startedNode();
    const web = await added(node, 'web', 'c1');
    await node.put(record('web', web, { app: 'web' }));
    const sctp = (port: object): KubeValue =>
      recordOf(
        'policy',
        policy({ ...inDefault, ingress_rule: [{ port: [{ protocol: 'SCTP', ...port }] }] }),
      );
    await node.put(sctp({ port: { number: 80 } }));
    assert.deepEqual([...node.policies.limits().keys()], ['default/web']);
    await node.put(sctp({}));
    assert.deepEqual([...node.policies.limits().keys()], []);
    await node.put(
      recordOf(
        'policy',
        policy({ ...inDefault, ingress_rule: [{ from: [block('10.0.0.0/99')] }] }),
      ),
    );
    assert.deepEqual([...node.policies.policyProblems().keys()], ['default/web']);
    assert.deepEqual(node.policies.notAsDefined(), ['default/web']);
  });

  it('deny services whose backends outside of the cluster a pod may not reach', async () => {
    const node = await startedNode();
    await added(node, 'a', 'c1');
    await added(node, 'b', 'c2');
    await node.put(record('a', '', { app: 'a' }));
    await node.put(record('b', '', { app: 'b' }));
    await node.put(egressOfA('203.0.113.0/24'));
    await node.put(serviceValue('external', '10.96.0.10'));
    await node.put(endpointsValue('external', [{ ip: '198.51.100.5', node: '' }]));
    assert.deepEqual(
      ['10.96.0.10', '10.96.0.11'].map((to) => opens(node, 'c1', to)),
      ['DENY', 'PASS'],
    );
    assert.equal(opens(node, 'c2', '10.96.0.10'), 'PASS');
    const before = sorted(node.config);
    await node.heal();
    assert.deepEqual(sorted(node.config), before);
    await node.put(egressOfA('198.51.100.0/24'));
    assert.equal(opens(node, 'c1', '10.96.0.10'), 'PASS');
    await node.put(egressOfA('203.0.113.0/24'));
    await node.put(endpointsValue('external', [remotePod(2)]));
    assert.equal(opens(node, 'c1', '10.96.0.10'), 'PASS');
  });

  it('deny a service that gets the address of a deleted one, if a pod may not reach its backends', async () => {
    const node = await startedNode();
    await added(node, 'a', 'c1');
    await node.put(record('a', '', { app: 'a' }));
    await node.put(egressOfA('203.0.113.0/24'));
    for (const [name, ip] of [
      ['first', '203.0.113.5'],
      ['second', '198.51.100.5'],
    ] as const) {
      await node.put(serviceValue(name, '10.96.0.10'));
      await node.put(endpointsValue(name, [{ ip, node: '' }]));
    }
    const isOfSecond = () => node.services.renderedServices().has('default/second');
    assert.equal(isOfSecond(), false);
    assert.equal(opens(node, 'c1', '10.96.0.10'), 'PASS');
    await node.remove(serviceValue('first', '10.96.0.10'));
    assert.equal(isOfSecond(), true);
    assert.equal(opens(node, 'c1', '10.96.0.10'), 'DENY');
  });

  it('deny external addresses of services, which replace the pod as the client, unless it may reach all backends', async () => {
    const node = await startedNode();
    await added(node, 'a', 'c1');
    await added(node, 'b', 'c2');
    await node.put(record('a', '', { app: 'a' }));
    await node.put(record('b', '', { app: 'b' }));
    await node.put(egressOfA('10.1.2.0/25'));
    await node.put(serviceValue('web', '10.96.0.10', { external_ips: ['192.0.2.10'] }));
    await node.put(endpointsValue('web', [remotePod(2), remotePod(200)]));
    assert.deepEqual(
      ['192.0.2.10', '10.96.0.10'].map((to) => opens(node, 'c1', to)),
      ['DENY', 'PASS'],
    );
    assert.equal(opens(node, 'c2', '192.0.2.10'), 'PASS');
    const before = sorted(node.config);
    await node.heal();
    assert.deepEqual(sorted(node.config), before);
    await node.put(endpointsValue('web', [remotePod(2)]));
    assert.equal(opens(node, 'c1', '192.0.2.10'), 'PASS');
  });

  it('let a pod reach itself at an external address, whatever its policies are', async () => {
    const node = await startedNode();
    const a = await added(node, 'a', 'c1');
    const b = await added(node, 'b', 'c2');
    for (const name of ['a', 'b']) await node.put(record(name, '', { app: 'a' }));
    await node.put(egressOfA('203.0.113.0/24'));
    await node.put(serviceValue('web', '10.96.0.10', { external_ips: ['192.0.2.10'] }));
    const decisions = () => ['c1', 'c2'].map((container) => opens(node, container, '192.0.2.10'));
    await node.put(endpointsValue('web', [{ ip: a, node: 'node-a', pod: 'a' }]));
    assert.deepEqual(decisions(), ['PASS', 'DENY']);
    await node.put(
      endpointsValue('web', [
        { ip: a, node: 'node-a', pod: 'a' },
        { ip: b, node: 'node-a', pod: 'b' },
      ]),
    );
    assert.deepEqual(decisions(), ['DENY', 'DENY']);
  });

  it('deny the addresses of a load balancer to clients that its service does not permit', async () => {
    const node = await startedNode();
    const a = await added(node, 'a', 'c1');
    const address = '192.0.2.10';
    const put = (...ranges: readonly string[]) =>
      node.put(
        serviceValue('web', '10.96.0.10', {
          service_type: 'LoadBalancer',
          external_traffic_policy: 'Local',
          lb_ingress_ips: [address],
          loadbalancer_source_ranges: ranges,
        }),
      );
    await node.put(endpointsValue('web', [{ ip: a, node: 'node-a', pod: 'a' }]));
    const { nics, hostLink, interfaces } = node.policies.node()!;
    /** Whether each client is denied, where its packets enter. */
    const denied = () =>
      (
        [
          [nics[0]!, '198.51.100.1'],
          [nics[0]!, '203.0.113.1'],
          [hostLink, '172.16.0.5'],
          [interfaces[0]!, '10.1.2.9'],
          ['vpp-tap-c1', a],
        ] as const
      ).map(([name, from]) => {
        const packet = { from, to: address, protocol: 'TCP', sourcePort: 4000, port: 80 } as const;
        const isBound = [...acls(node).values()].some((acl) =>
          acl.interfaces?.ingress.includes(name),
        );
        const rules = isBound ? boundRules(acls(node).values(), name, 'ingress') : [];
        return isBound && decide(rules, { ...packet, flags: SYN }) === 'DENY';
      });
    await put('198.51.100.0/24');
    assert.deepEqual(denied(), [false, true, true, true, true]);
    await put('172.16.0.0/16', '10.1.0.0/16');
    assert.deepEqual(denied(), [true, true, false, false, false]);
    await put('no range');
    assert.deepEqual(denied(), [true, true, true, true, true]);
    const before = sorted(node.config);
    await node.heal();
    assert.deepEqual(sorted(node.config), before);
    await put();
    assert.deepEqual(denied(), [false, false, false, false, false]);
    const names = aclNames(acls(node));
    assert.deepEqual(
      names.filter((name) => name.startsWith('~')),
      [],
    );
  });

  describe('deny external addresses of services with isolated backends of the node', () => {
    const external = '192.0.2.10';
    const fromAddress = (node: TestNode, name: string, from: string, flags = SYN) => {
      const packet = { from, to: external, protocol: 'TCP', sourcePort: 4000, port: 80 } as const;
      const rules = boundRules(acls(node).values(), name, 'ingress');
      return passing(decide(rules, { ...packet, flags }));
    };
    const started = async () => {
      const node = await startedNode();
      const a = await added(node, 'a', 'c1');
      const b = await added(node, 'b', 'c2');
      await node.put(record('a', a, { app: 'client' }));
      await node.put(record('b', b, { app: 'web' }));
      await node.put(serviceValue('web', '10.96.0.10', { external_ips: [external] }));
      await node.put(endpointsValue('web', [{ ip: b, node: 'node-a', pod: 'b' }]));
      return node;
    };
    const clients = '~contiv-policy-NODE-CLIENTS';
    const inputs = (node: TestNode) => ['vpp-tap-c1', ...node.policies.node()!.nics];

    it('to pods of the node and clients outside that the backend does not permit', async () => {
      const node = await started();
      assert.ok(!aclNames(acls(node)).includes(clients));
      await node.put(denyAll);
      const from = ['10.1.1.2', '198.51.100.1'];
      assert.deepEqual(
        inputs(node).map((name, at) => fromAddress(node, name, from[at]!)),
        ['DENY', 'DENY'],
      );
      assert.equal(opens(node, 'c2', external), 'PASS', 'the backend itself');
      for (const name of node.policies.node()!.interfaces)
        assert.equal(fromAddress(node, name, '10.1.2.9'), 'DENY', name);
      const before = sorted(node.config);
      await node.heal();
      assert.deepEqual(sorted(node.config), before);
      await node.remove(denyAll);
      assert.equal(fromAddress(node, 'vpp-tap-c1', '10.1.1.2'), 'PASS');
      assert.ok(!aclNames(acls(node)).includes(clients));
    });

    it('but not to those that it permits at its port', async () => {
      const node = await started();
      const permitted = (number: number) =>
        recordOf(
          'policy',
          policy({
            ...inDefault,
            name: 'web',
            pods: selector({ app: 'web' }),
            ingress_rule: [
              {
                from: [pods({ app: 'client' }), block('198.51.100.0/25')],
                port: [{ port: { number } }],
              },
            ],
          }),
        );
      const answers = () => {
        const [nic] = node.policies.node()!.nics;
        return [
          fromAddress(node, 'vpp-tap-c1', '10.1.1.2'),
          fromAddress(node, nic!, '198.51.100.1'),
          fromAddress(node, nic!, '198.51.100.200'),
        ];
      };
      await node.put(permitted(8080));
      assert.deepEqual(answers(), ['PASS', 'PASS', 'DENY']);
      await node.put(permitted(80));
      assert.deepEqual(answers(), ['DENY', 'DENY', 'DENY']);
      await node.put(endpointsValue('web', [remotePod(2)]));
      assert.equal(fromAddress(node, 'vpp-tap-c1', '10.1.1.2'), 'PASS');
      assert.ok(!aclNames(acls(node)).includes(clients));
    });

    it('at NICs only packets that open a connection: others may be replies to source NAT', async () => {
      const node = await started();
      await node.put(denyAll);
      const [nic] = node.policies.node()!.nics;
      assert.equal(fromAddress(node, nic!, '198.51.100.1', SYN | ACK), 'PASS');
    });
  });

  it('lead to the values of a resync, however they have changed', async () => {
    const names = ['a', 'b', 'c'];
    const someEndpoints = [remotePod(2), localPod(2), { ip: '198.51.100.5', node: '' }];
    const serviceName = fc.constantFrom('s', 't');
    const someService = fc.oneof(
      fc
        .tuple(serviceName, fc.subarray(['192.0.2.10', '192.0.2.11']))
        .map(([name, external_ips]) => serviceValue(name, '10.96.0.10', { external_ips })),
      fc
        .tuple(serviceName, fc.subarray(someEndpoints))
        .map(([name, endpoints]) => endpointsValue(name, endpoints)),
    );
    const labels = fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom('web', 'db'));
    const step = fc.oneof(
      somePolicy.map((one) => ['put', recordOf('policy', { ...one, ...inDefault })] as const),
      somePolicy.map((one) => ['remove', recordOf('policy', { ...one, ...inDefault })] as const),
      fc
        .record({
          name: fc.constantFrom(...names),
          labels,
          ip: fc.constantFrom('', '10.1.1.2', '10.1.1.3', '10.1.2.2'),
        })
        .map((one) => ['put', record(one.name, one.ip, one.labels)] as const),
      someService.map((one) => ['put', one] as const),
      someService.map((one) => ['remove', one] as const),
      fc.constantFrom(...names).map((name) => ['add', name] as const),
      fc.constantFrom(...names).map((name) => ['add refused', name] as const),
      fc.constantFrom(...names).map((name) => ['del', name] as const),
    );
    const add = async (node: TestNode, name: string, isRefused: boolean) => {
      node.rejects = () => isRefused;
      await node.add(name, `c-${name}`);
      node.rejects = () => false;
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const node = await startedNode();
        for (const [kind, what] of steps) {
          if (kind === 'put') await node.put(what);
          else if (kind === 'remove') await node.remove(what);
          else if (kind === 'del') await node.del(what, `c-${what}`);
          else await add(node, what, kind === 'add refused');
        }
        const before = sorted(node.config);
        const limits = [...node.policies.limits()].sort();
        const data = node.policies.describeInternalData?.();
        const { error } = await node.heal();
        assert.equal(error, undefined);
        assert.deepEqual(sorted(node.config), before);
        assert.deepEqual([...node.policies.limits()].sort(), limits);
        assert.equal(node.policies.describeInternalData?.(), data);
      }),
      { numRuns: 25 },
    );
  });
});
