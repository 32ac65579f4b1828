/** Network policies between pods, hosts and other machines. */
import { after, before, describe, it } from 'node:test';
import type { Policy } from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { DeepInput } from '#models/model.ts';
import {
  block,
  namespace,
  namespaces,
  pod,
  pods,
  policy,
  selector,
} from '#test/plugins/policy/policy-objects.ts';
import { a, b, host1, host2, serviceRecords, x, y } from '#test/services/compliance/records.ts';
import type {
  NodeName,
  Place,
  ServiceCluster,
  StartServiceCluster,
} from '#test/services/service-cluster.ts';
import { assertReachability, type Destination } from './reachability.ts';

const SERVED = [8080, 9090];
/** In the namespace `team`. */
const m: Place = { pod: 'm' };
const serviceOf = { a: '10.96.5.1', b: '10.96.5.2', x: '10.96.5.3' } as const;
const NODE_PORT = 30_502;
/** Of service b. */
const EXTERNAL_IP = '203.0.113.20';

const ports = (...numbers: readonly number[]) =>
  numbers.flatMap((number) =>
    (['TCP', 'UDP'] as const).map((protocol) => ({ protocol, port: { number } })),
  );

/** Pods of which the name is also the label `app`. */
export async function startPods(cluster: ServiceCluster): Promise<void> {
  const start = (name: string, node: NodeName, space = 'default') => {
    const named = ['web TCP 8080', 'web UDP 8080'];
    const record = pod({ name, namespace: space, labels: { app: name }, ports: named });
    return cluster.startPod(name, node, SERVED, record);
  };
  for (const name of ['a', 'b']) await start(name, 'node1');
  for (const name of ['x', 'y']) await start(name, 'node2');
  await start('m', 'node2', 'team');
  await cluster.routeFromOutside(`${EXTERNAL_IP}/32`, 'node1');
  for (const at of [host1, host2, 'outside'] as const)
    for (const port of SERVED) await cluster.serve(at, port);
  const team = namespace('team', { team: 'own' });
  await cluster.write({ resource: resources.namespace, name: 'team', value: team });
  for (const [name, address] of Object.entries(serviceOf))
    await cluster.apply(
      serviceRecords(cluster, name, {
        ...(name === 'b' && { service_type: 'NodePort', external_ips: [EXTERNAL_IP] }),
        cluster_ip: address,
        ports: [{ port: 80, target: 8080, ...(name === 'b' && { nodePort: NODE_PORT }) }],
        backends: [{ pod: name }],
      }),
    );
}

/** Writes a policy of the namespace `default`; undefined: deletes it. */
export function writePolicy(
  cluster: ServiceCluster,
  name: string,
  input: DeepInput<Policy> | undefined,
): Promise<void> {
  const names = { name, namespace: 'default' };
  const value = input && policy({ ...input, ...names });
  return cluster.write({ resource: resources.policy, ...names, value });
}

export const only = (app: string) => ({ pods: selector({ app }) });

export function policySuite(start: StartServiceCluster): void {
  describe('network policies', { timeout: 400_000 }, () => {
    let cluster: ServiceCluster;

    before(async () => {
      cluster = await start();
      await startPods(cluster);
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    /** Applies a policy for the time of a case. */
    const under = async (input: DeepInput<Policy>, check: () => Promise<void>) => {
      await writePolicy(cluster, 'case', input);
      try {
        await check();
      } finally {
        await writePolicy(cluster, 'case', undefined);
      }
    };
    const to = (at: Destination['at'], port = 8080): Destination => ({ at, port });
    const service = (name: keyof typeof serviceOf) => to({ address: serviceOf[name] }, 80);
    const check = (
      reached: readonly (readonly [Place, Destination])[],
      denied: readonly (readonly [Place, Destination])[],
    ) =>
      assertReachability(cluster, [
        ...reached.map(([from, target]) => ({ from, to: target, isReached: true })),
        ...denied.map(([from, target]) => ({ from, to: target, isReached: false })),
      ]);

    it('without one, everything is reached', () =>
      check(
        [
          [a, to(b)],
          [x, to(b)],
          [m, to(b)],
          [b, to(y)],
          [a, service('b')],
          [x, service('b')],
          [b, service('b')],
          [host1, to(b)],
          [host2, to(b)],
          ['outside', to(b)],
          [b, to('outside')],
          ['outside', { at: { address: cluster.vppAddressOf('node2') }, port: NODE_PORT }],
        ],
        [],
      ));

    it('a pod without permits is reached by its own host alone, and reaches all others', () =>
      under({ ...only('b'), policy_type: 'INGRESS' }, () =>
        check(
          [
            [host1, to(b)],
            [b, to(a)],
            [b, to(x)],
            [b, to(m)],
            [b, service('x')],
            [b, to(host1)],
            [b, to('outside')],
            [a, to(x)],
            [x, service('a')],
            // a pod always reaches itself
            [b, service('b')],
          ],
          [
            [a, to(b)],
            [x, to(b)],
            [m, to(b, 9090)],
            [host2, to(b)],
            ['outside', to(b)],
            [a, service('b')],
            [x, service('b')],
            [host2, service('b')],
          ],
        ),
      ));

    it('permits pods by their labels and by the labels of their namespace', () =>
      under(
        {
          ...only('b'),
          policy_type: 'INGRESS',
          ingress_rule: [{ from: [pods({ app: 'x' })] }, { from: [namespaces({ team: 'own' })] }],
        },
        () =>
          check(
            [
              [x, to(b)],
              [x, to(b, 9090)],
              [x, service('b')],
              [m, to(b)],
              [m, service('b')],
            ],
            [
              [a, to(b)],
              [a, service('b')],
              [y, to(b)],
            ],
          ),
      ));

    it('permits a port by its name in the pod', () =>
      under(
        {
          ...only('b'),
          policy_type: 'INGRESS',
          ingress_rule: [
            {
              port: (['TCP', 'UDP'] as const).map((protocol) => ({
                protocol,
                port: { type: 'NAME', name: 'web' },
              })),
            },
          ],
        },
        () =>
          check(
            [
              [a, to(b)],
              [x, to(b)],
              [x, service('b')],
              ['outside', to(b)],
            ],
            [
              [a, to(b, 9090)],
              [x, to(b, 9090)],
              ['outside', to(b, 9090)],
            ],
          ),
      ));

    it('permits blocks of addresses but for exceptions, also to machines outside', async () => {
      const outside = cluster.addressOf('outside');
      const permitted = (...except: string[]) => ({
        ...only('b'),
        policy_type: 'INGRESS' as const,
        ingress_rule: [{ from: [block(outside.replace(/\d+$/, '0/24'), ...except)] }],
      });
      await under(permitted(), () =>
        check(
          [['outside', to(b)]],
          [
            [a, to(b)],
            [x, to(b)],
          ],
        ),
      );
      await under(permitted(`${outside}/32`), () => check([], [['outside', to(b)]]));
    });

    it('limits where a pod sends to, after the translation of services', () =>
      under(
        {
          ...only('a'),
          policy_type: 'EGRESS',
          egress_rule: [{ to: [pods({ app: 'x' })], port: ports(8080) }],
        },
        () =>
          check(
            [
              [a, to(x)],
              [a, service('x')],
              [a, to(host1)],
              [b, to(a)],
              [x, to(a)],
              [m, service('a')],
              [host1, to(a)],
              ['outside', to(a)],
            ],
            [
              [a, to(x, 9090)],
              [a, to(y)],
              [a, to(b)],
              [a, service('b')],
              [a, to(m)],
              [a, to(host2)],
            ],
          ),
      ));

    it('limits where a pod sends to outside of the cluster', () =>
      under(
        {
          ...only('a'),
          policy_type: 'EGRESS',
          egress_rule: [{ to: [block('192.168.0.0/16')], port: ports(8080) }],
        },
        () =>
          check(
            [
              [a, to('outside')],
              ['outside', to(a, 9090)],
              [b, to('outside', 9090)],
            ],
            [[a, to('outside', 9090)]],
          ),
      ));

    const nodePort = (node: NodeName) => to({ address: cluster.vppAddressOf(node) }, NODE_PORT);
    const hostPort = (node: NodeName) =>
      to({ address: cluster.addressOf({ host: node }) }, NODE_PORT);
    const external = to({ address: EXTERNAL_IP }, 80);

    it('hides a pod behind node ports and external addresses; it reaches itself', () =>
      under({ ...only('b'), policy_type: 'INGRESS_AND_EGRESS' }, () =>
        check(
          [
            [b, nodePort('node1')],
            [b, hostPort('node1')],
            [b, external],
          ],
          [
            [a, nodePort('node1')],
            [a, hostPort('node1')],
            [a, external],
            [x, nodePort('node1')],
            [x, hostPort('node1')],
            [x, nodePort('node2')],
            [x, external],
            ['outside', nodePort('node1')],
            ['outside', nodePort('node2')],
            ['outside', external],
          ],
        ),
      ));

    it('permits the same pods and ports at node ports and external addresses of their node', () =>
      under(
        {
          ...only('b'),
          policy_type: 'INGRESS',
          ingress_rule: [
            { from: [pods({ app: 'a' }), pods({ app: 'x' })], port: ports(8080) },
            { from: [pods({ app: 'y' })], port: ports(9090) },
          ],
        },
        () =>
          check(
            [
              [a, nodePort('node1')],
              [a, hostPort('node1')],
              [a, external],
              [x, hostPort('node1')],
            ],
            [
              [y, hostPort('node1')],
              [m, hostPort('node1')],
              ['outside', nodePort('node1')],
            ],
          ),
      ));

    it('permits blocks of addresses at node ports and external addresses of the node of the pod', async () => {
      const outside = cluster.addressOf('outside');
      const permitted = (...except: string[]) => ({
        ...only('b'),
        policy_type: 'INGRESS' as const,
        ingress_rule: [{ from: [block(outside.replace(/\d+$/, '0/24'), ...except)] }],
      });
      await under(permitted(), () =>
        check(
          [
            ['outside', nodePort('node1')],
            ['outside', external],
          ],
          [[a, nodePort('node1')]],
        ),
      );
      await under(permitted(`${outside}/32`), () =>
        check(
          [],
          [
            ['outside', nodePort('node1')],
            ['outside', external],
          ],
        ),
      );
    });
  });
}
