import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyLabelSelector } from '#kubernetes/models/policy.ts';
import type { DeepInput } from '#models/model.ts';
import { LabelSelector } from '#plugins/policy/cache/label-selector.ts';
import { NamespaceTable } from '#plugins/policy/cache/namespace-table.ts';
import { policyPod } from '#plugins/policy/cache/policy-pod.ts';
import { type PodSelector, SelectorIndex } from '#plugins/policy/cache/selector-index.ts';
import { pod, policy, selector } from '../policy-objects.ts';

function labelSelector(input: DeepInput<PolicyLabelSelector>): LabelSelector {
  return LabelSelector.of(policy({ pods: input }).pods!, assert.fail)!;
}

function expression(
  key: string,
  operator: 'IN' | 'NOT_IN' | 'EXISTS' | 'DOES_NOT_EXIST',
  ...value: string[]
) {
  return labelSelector({ match_expression: [{ key, operator, value }] });
}

const web = labelSelector(selector({ app: 'web' }));
const { everything } = LabelSelector;

const selectors: Readonly<Record<string, PodSelector>> = {
  'own pods': { pods: everything, namespaces: 'shop' },
  'pods of another namespace': { pods: everything, namespaces: 'other' },
  'own web': { pods: web, namespaces: 'shop' },
  'web of another namespace': { pods: web, namespaces: 'other' },
  'own db': { pods: labelSelector(selector({ app: 'db' })), namespaces: 'shop' },
  'web or db': { pods: expression('app', 'IN', 'web', 'db'), namespaces: everything },
  'db or cache': { pods: expression('app', 'IN', 'db', 'cache'), namespaces: everything },
  'with app': { pods: expression('app', 'EXISTS'), namespaces: everything },
  'with tier': { pods: expression('tier', 'EXISTS'), namespaces: everything },
  'without tier': { pods: expression('tier', 'DOES_NOT_EXIST'), namespaces: everything },
  'not db': { pods: expression('app', 'NOT_IN', 'db'), namespaces: 'shop' },
  'team a': { pods: everything, namespaces: labelSelector(selector({ team: 'a' })) },
  'team b': { pods: everything, namespaces: labelSelector(selector({ team: 'b' })) },
  'with team': { pods: everything, namespaces: expression('team', 'EXISTS') },
  'web of team b': { pods: web, namespaces: labelSelector(selector({ team: 'b' })) },
};

test('selectors that can match a pod are found by a label or their scope; others are not looked at', () => {
  const namespaces = new NamespaceTable();
  namespaces.set('shop', [{ key: 'team', value: 'a' }]);
  const index = new SelectorIndex<PodSelector>(namespaces);
  for (const one of Object.values(selectors)) index.add(one);
  const found = (labels: Record<string, string>) => {
    const all = new Set<PodSelector>();
    index.collect(policyPod('a', 'shop', pod({ name: 'a', labels })), all);
    return Object.keys(selectors).filter((name) => all.has(selectors[name]!));
  };
  const always = ['own pods', 'without tier', 'not db', 'team a', 'with team'];
  assert.deepEqual(found({}).sort(), [...always].sort());
  assert.deepEqual(
    found({ app: 'web' }).sort(),
    // the namespace is looked at after the label
    [...always, 'own web', 'web or db', 'with app', 'web of team b'].sort(),
  );
  for (const one of Object.values(selectors)) index.delete(one);
  assert.deepEqual(found({ app: 'web' }), []);
});
