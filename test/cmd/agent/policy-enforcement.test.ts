/** The record of an agent about the policies of the cluster that its node does not enforce. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ClusterNetworkPolicy } from '#kubernetes/models/cluster-network-policy.ts';
import {
  PolicySetDigest,
  policyDigest,
  policyEnforcementModel,
} from '#kubernetes/models/policy-enforcement.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import { clusterPolicy } from '../../plugins/policy/policy-objects.ts';
import { makeNode, startAgent, until } from './harness.ts';
import { create, web } from './test-pods.ts';

const KEY = '/vnf-agent/contiv-policyenforcement/node1';
const policies = resources.clusternetworkpolicy;

const digestOf = (...all: ClusterNetworkPolicy[]): string => {
  const set = new PolicySetDigest();
  for (const one of all) set.toggle(policyDigest(one));
  return set.text;
};

it('the node says which policies it does not enforce, with each change and after a restart', {
  timeout: 180_000,
}, async () => {
  const node = makeNode();
  const record = async () => {
    const text = await node.cluster.get(KEY);
    return text === undefined ? undefined : policyEnforcementModel.parse(JSON.parse(text), KEY);
  };
  const put = (policy: ClusterNetworkPolicy) =>
    node.cluster.put(REFLECTOR_PREFIX + policies.key(policy.name, ''), valueText(policies, policy));
  const everything = { pods: {}, namespaces: {} };
  const whole = clusterPolicy({
    name: 'whole',
    subject: everything,
    egress: [{ action: 'DENY', peer: [{ networks: { cidr: ['192.0.2.0/24'] } }] }],
  });
  const sctp = clusterPolicy({
    name: 'sctp',
    subject: everything,
    egress: [
      {
        action: 'DENY',
        peer: [{ networks: { cidr: ['192.0.2.0/24'] } }],
        port: [{ protocol: 'SCTP', first: 80, last: 80 }],
      },
    ],
  });
  {
    await using running = await startAgent(node);
    await create(running, web);
    await put(whole);
    await put(sctp);
    await until(async () => (await record())?.applied === digestOf(whole, sctp));
    const found = await record();
    assert.deepEqual(
      found?.not_enforced.map(({ policy, code }) => [policy, code]),
      [['sctp', 'NotCarried']],
    );
    assert.match(found?.not_enforced[0]?.reason ?? '', /VPP compares no ports/);
    const { body } = await running.get('/contiv/v1/policy/enforcement');
    assert.deepEqual(body, {
      state: 'settled',
      problem: '',
      applied: digestOf(whole, sctp),
      policies: found?.not_enforced,
    });
  }
  await node.cluster.delete(REFLECTOR_PREFIX + policies.key('sctp', ''));
  await using running = await startAgent(node);
  await until(async () => (await record())?.applied === digestOf(whole));
  assert.deepEqual((await record())?.not_enforced, []);
  node.vpp.crash();
  const { body } = await running.get('/contiv/v1/policy/enforcement');
  assert.equal((body as { state: string }).state, 'failed');
  await until(async () => (await record())?.problem !== '');
  assert.deepEqual(await record().then((one) => [one?.applied, one?.not_enforced]), ['', []]);
});
