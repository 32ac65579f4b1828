/** Records of policies that cannot be read: the event loop gets policies that isolate in their place. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closedPolicies } from '#kubernetes/models/closed-policy.ts';
import { type Policy, policyModel } from '#kubernetes/models/policy.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import {
  advance,
  KSR,
  MIRROR_MS,
  settle,
  startedWatcher,
  watcherHarness,
} from './watcher-harness.ts';

const shortKey = resources.policy.key('web', 'shop');
const key = KSR + shortKey;
const pods = { match_label: [{ key: 'app', value: 'web' }], match_expression: [] };
const names = { name: 'web', namespace: 'shop' };

const isolated = (record: Policy | undefined) =>
  record && [record.pods, record.policy_type, record.ingress_rule, record.egress_rule];
const everything = { match_label: [], match_expression: [] };
const closed = (selected: object) => [selected, 'INGRESS_AND_EGRESS', [], []];

const unreadable: readonly [text: string, selected: object][] = [
  ['{', everything],
  ['[]', everything],
  ['{"unheard":"of"}', everything],
  [JSON.stringify({ ...names, pods, policy_type: 'SIDEWAYS' }), pods],
  [JSON.stringify({ ...names, pods, ingress_rule: [{ port: [{ protocol: 'QUIC' }] }] }), pods],
  // a newer writer may restrict by it what the rest permits
  [JSON.stringify({ ...names, pods, ingress_rule: [{ from: [], when: 'daytime' }] }), pods],
  [JSON.stringify({ ...names, pods: { ...pods, accounts: ['a'] } }), everything],
];

describe('a policy in the datastore that cannot be read', () => {
  it('isolates the pods that it selects, or its namespace: at start, as a change, by the mirror', async () => {
    for (const [text, selected] of unreadable) {
      const { loop, database, watcher, warnings } = watcherHarness();
      await database.put(key, text);
      watcher.start();
      await settle();
      const { policy } = loop.resyncs.at(-1)!.kubeState;
      const record = policy?.[shortKey] as Policy;
      assert.deepEqual(isolated(record), closed(selected), text);
      assert.ok(closedPolicies.unreadableParts(record));
      assert.deepEqual([...watcher.status.broken.keys()], [key]);
      assert.deepEqual(
        warnings.map((one) => one.key),
        [key],
      );
      await watcher.close();
    }
  });

  it('does not keep what a former, readable record permitted', async () => {
    const made = await startedWatcher();
    const { loop, database, watcher, mirror } = made;
    const open = policyModel.canonical({ ...names, pods, ingress_rule: [{}] });
    await database.put(key, JSON.stringify(policyModel.toJson(open)));
    await settle();
    loop.take();
    for (const [text, selected] of unreadable) {
      await database.put(key, text);
      await advance(made, MIRROR_MS);
      const { current } = loop.changes.at(-1)!;
      assert.deepEqual(isolated(current as Policy), closed(selected), text);
      assert.equal((await mirror())[key], text, 'a start without the database finds the same');
    }
    await database.delete(key);
    await settle();
    assert.equal(loop.changes.at(-1)!.current, undefined);
    assert.equal(watcher.status.broken.size, 0);
    await watcher.close();
  });

  it('is read without a field that is beside the selector and the rules', async () => {
    const { loop, database, watcher } = await startedWatcher();
    await database.put(key, JSON.stringify({ ...names, pods, ingress_rule: [{}], since: 'today' }));
    await settle();
    const { ingress_rule } = loop.changes.at(-1)!.current as Policy;
    assert.equal(ingress_rule.length, 1);
    assert.equal(watcher.status.broken.size, 0);
    await watcher.close();
  });
});
