import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AddressOwners } from '#plugins/policy/cache/address-owners.ts';
import { NamespaceTable } from '#plugins/policy/cache/namespace-table.ts';
import { NodeTable } from '#plugins/policy/cache/node-table.ts';
import { PeerSelectors } from '#plugins/policy/cache/peer-selectors.ts';
import { PodTable } from '#plugins/policy/cache/pod-table.ts';
import { policyPod } from '#plugins/policy/cache/policy-pod.ts';
import { policySpec } from '#plugins/policy/configurator/policy-spec.ts';
import { PolicyEntries } from '#plugins/policy/processor/policy-entries.ts';
import { pod, pods, policy, testSlices } from '../policy-objects.ts';

const db = policyPod('db', 'shop', pod({ name: 'db', ips: ['10.1.1.2'] }));
const web = policyPod(
  'web',
  'shop',
  pod({ name: 'web', labels: { app: 'web' }, ips: ['10.1.2.2'] }),
);

test('peers are followed only while a policy that has them selects an attached pod', async () => {
  const podTable = new PodTable();
  const namespaces = new NamespaceTable();
  const peers = new PeerSelectors(podTable, new AddressOwners(podTable), namespaces);
  const entries = new PolicyEntries({ namespaces, nodes: new NodeTable(), peers });
  podTable.set(web.name, web);
  const toggle = async (): Promise<number> => {
    const set = (present: boolean) => () => podTable.set(web.name, present ? web : undefined);
    const gone = await peers.change(web.addresses, set(false), testSlices());
    const back = await peers.change(web.addresses, set(true), testSlices());
    assert.equal(gone.size, back.size);
    return gone.size;
  };
  const record = (name: string) =>
    policySpec(name, 'shop', policy({ ingress_rule: [{ from: [pods({ app: 'web' })] }] }));
  const a = entries.set('shop/a', record('a')).after!;
  const b = entries.set('shop/b', record('b')).after!;
  assert.equal(await toggle(), 0);
  await entries.attach(a, 'db', db, testSlices());
  await entries.attach(b, 'db', db, testSlices());
  assert.equal(a.rules?.selectors[0], b.rules?.selectors[0], 'equal selectors are one');
  assert.equal(await toggle(), 1);
  entries.detach(a, 'db');
  entries.deactivateUnused();
  assert.equal(a.rules, undefined);
  assert.deepEqual([...entries.usersOf(b.rules!.selectors)], [b]);
  assert.equal(await toggle(), 1);
  entries.detach(b, 'db');
  await entries.attach(b, 'db', db, testSlices());
  entries.deactivateUnused();
  assert.equal(await toggle(), 1, 'a policy that is attached again stays active');
  entries.detach(b, 'db');
  entries.deactivateUnused();
  assert.equal(await toggle(), 0);
});
