/** Random policies of all three tiers on two real nodes: packets pass exactly if the reference says so, in IPv4 and in IPv6. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { resources } from '#kubernetes/resources/resources.ts';
import type { AttachedPod } from '#plugins/policy/processor/policy-processor.ts';
import {
  type Cluster,
  emptyCluster,
  namespace,
  type PodInput,
  pod,
} from '#test/plugins/policy/policy-objects.ts';
import { someClusterPolicy, somePolicy } from '#test/plugins/policy/random-objects.ts';
import { isPermitted } from '#test/plugins/policy/reference.ts';
import { assertReachability, type Expectation } from '#test/policies/compliance/reachability.ts';
import type { NodeName } from '#test/services/service-cluster.ts';
import { withoutNodes, withoutVhostNet } from '#test/support/requirements.ts';
import { RealServiceCluster } from '../support/service-cluster.ts';

const CLUSTERS = 6;
const PORTS = [8080, 8090];
const named = ['http TCP 8080', 'dns UDP 8090'];

const pods: readonly (readonly [NodeName, PodInput])[] = [
  ['node1', { name: 'a', namespace: 'red', labels: { app: 'web', tier: 'db' }, ports: named }],
  ['node1', { name: 'b', namespace: 'blue', labels: { app: 'db' }, ports: named }],
  ['node2', { name: 'c', namespace: 'red', labels: { app: 'web' } }],
  ['node2', { name: 'd', namespace: 'blue', labels: { tier: 'web' }, ports: named }],
];
const namespaces = [namespace('red', { team: 'one' }), namespace('blue', { team: 'two' })];

/** Each name once. */
const someTiers = fc.record({
  policies: fc.uniqueArray(somePolicy, {
    maxLength: 4,
    selector: ({ name, namespace: space }) => `${space}/${name}`,
  }),
  clusterPolicies: fc.uniqueArray(someClusterPolicy, {
    minLength: 1,
    maxLength: 4,
    selector: ({ name }) => name,
  }),
});

for (const family of [4, 6] as const)
  describe(`random policies of three tiers, IPv${family}`, {
    skip: withoutNodes() || withoutVhostNet(),
    timeout: 400_000,
  }, () => {
    let cluster: RealServiceCluster;
    let base: Cluster;

    before(async () => {
      cluster = await RealServiceCluster.start({ family });
      for (const one of namespaces)
        await cluster.write({ resource: resources.namespace, name: one.name, value: one });
      for (const [node, input] of pods) await cluster.startPod(input.name, node, PORTS, pod(input));
      const addressed = pods.map(([, input]) =>
        pod({ ...input, ips: [cluster.addressOf({ pod: input.name })] }),
      );
      const attachments = addressed.map((one): [string, AttachedPod] => [
        one.name,
        { pod: `${one.namespace}/${one.name}`, podUid: undefined, addresses: [one.ip_address] },
      ]);
      base = { ...emptyCluster, namespaces, pods: addressed, attachments: new Map(attachments) };
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    it('packets are decided as the reference says', async (t) => {
      let permitted = 0;
      let asked = 0;
      for (const { policies, clusterPolicies } of fc.sample(someTiers, CLUSTERS)) {
        const records = [
          ...policies.map((value) => ({ resource: resources.policy, value })),
          ...clusterPolicies.map((value) => ({
            resource: resources.clusternetworkpolicy,
            value,
          })),
        ].map(({ resource, value }) => ({
          resource,
          name: value.name,
          ...('namespace' in value && { namespace: value.namespace }),
          value,
        }));
        await cluster.write(...records);
        const state = { ...base, policies, clusterPolicies };
        const expectations = pairs().flatMap(([from, to]) =>
          PORTS.flatMap((port) =>
            (['TCP', 'UDP'] as const).map((protocol): Expectation => {
              const [source, address] = [from, to].map((name) => cluster.addressOf({ pod: name }));
              const isReached = isPermitted(state, source!, { address: address!, protocol, port });
              return {
                from: { pod: from },
                to: { at: { pod: to }, port },
                isReached,
                protocols: [protocol],
              };
            }),
          ),
        );
        asked += expectations.length;
        permitted += expectations.filter(({ isReached }) => isReached).length;
        await assertReachability(cluster, expectations).catch((thrown: unknown) => {
          t.diagnostic(JSON.stringify({ policies, clusterPolicies }));
          throw thrown;
        });
        await cluster.write(...records.map((one) => ({ ...one, value: undefined })));
      }
      t.diagnostic(`${asked} connections, ${permitted} of them permitted`);
      assert.ok(permitted < asked);
    });
  });

function pairs(): [string, string][] {
  const names = pods.map(([, { name }]) => name);
  return names.flatMap((from) =>
    names.flatMap((to): [string, string][] => (from === to ? [] : [[from, to]])),
  );
}
