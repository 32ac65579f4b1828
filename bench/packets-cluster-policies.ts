/**
 * Clocks of the processor that a packet between two pods costs in VPP under 50 policies of the cluster beside a NetworkPolicy, against the
 * same NetworkPolicy alone, in the same run, and against a VPP without an agent. The policies select 100 other pods as their peers.
 */
import { resources } from '#kubernetes/resources/resources.ts';
import { namespace, pod } from '#test/plugins/policy/policy-objects.ts';
import { withoutNodes, withoutSocketHooks, withoutVhostNet } from '#test/support/requirements.ts';
import { clusterPolicies } from './lib/cluster-policies.ts';
import { startBareNode } from './lib/packets/bare-node.ts';
import { comparePath } from './lib/packets/compare-path.ts';
import { isolate } from './lib/packets/isolate.ts';
import { startOurNode } from './lib/packets/our-node.ts';
import type { Print } from './main.ts';

export const NAME = 'packets-cluster-policies';

const POLICIES = 50;
const RULES = [1, 100];
const PODS = 100;
const TEAMS = 8;
const APPS = 25;

export async function run(print: Print): Promise<void> {
  const missing = withoutNodes() || withoutVhostNet() || withoutSocketHooks();
  if (missing) return print(`not measured: ${missing}`);
  await using bare = await startBareNode(4, 0);
  await using ours = await startOurNode(4, 0);
  const { cluster } = ours;
  const measured = async (title: string): Promise<number[]> => {
    const all: number[] = [];
    for (const rules of RULES) {
      await isolate(ours, rules);
      const name = `pod → pod under a policy of ${rules} rules, ${title}`;
      all.push(await comparePath(print, name, 'pod → pod', bare, ours));
    }
    return all;
  };
  const without = await measured('without policies of the cluster');
  await cluster.write(
    ...teams(),
    ...peers(),
    ...clusterPolicies(POLICIES).map((value) => ({
      resource: resources.clusternetworkpolicy,
      name: value.name,
      namespace: '',
      value,
    })),
  );
  const withPolicies = await measured(`${POLICIES} policies of the cluster beside it`);
  for (const [at, clocks] of withPolicies.entries()) {
    // each by a bare VPP of the same minute: other load of the machine changes both
    const ratio = clocks / without[at]!;
    print(`${RULES[at]} rules: with the policies of the cluster ${ratio.toFixed(2)} of without`);
  }
}

/** Also that of the pods that are measured. */
function teams() {
  const names = ['default', ...Array.from({ length: TEAMS }, (_, at) => `team-${at}`)];
  return names.map((name, at) => ({
    resource: resources.namespace,
    name,
    namespace: '',
    value: namespace(name, { team: `${at % TEAMS}` }),
  }));
}

/** On another node. */
function peers() {
  return Array.from({ length: PODS }, (_, at) => {
    const names = { name: `peer-${at}`, namespace: `team-${at % TEAMS}` };
    const ips = [`10.1.9.${2 + 2 * at}`];
    return {
      resource: resources.pod,
      ...names,
      value: pod({ ...names, labels: { app: `app-${at % APPS}` }, ips }),
    };
  });
}
