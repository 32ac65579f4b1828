/** ACLs on interfaces. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { DeepInput } from '#models/model.ts';
import { type Acl, aclModel } from '#models/vpp/acl.ts';
import type { VppBackend } from '#test/vpp/descriptors/backends.ts';
import { permitAll } from '#test/vpp/descriptors/messages.ts';
import { keyedValue, loop } from './example-values.ts';
import { RecordedAgent, toMap } from './recorded-agent.ts';

const ALL = 0xffff_ffff;

const permit = (source_network: string) =>
  ({ action: 'PERMIT', ip_rule: { ip: { source_network } } }) as const;

function acl(name: string, interfaces: DeepInput<Acl>['interfaces'] = {}): KeyedValue {
  return keyedValue(aclModel, {
    name,
    rules: [permit('10.1.0.0/16'), { action: 'DENY' }],
    interfaces,
  });
}

export function aclSuite(start: () => Promise<VppBackend>): void {
  describe('ACLs', () => {
    const bench = new RecordedAgent(start);

    /** Tags of what is bound to the interface with this tag. */
    const bound = async (iface: string) => {
      const fields = { sw_if_index: ALL, name_filter_valid: false, name_filter: '' };
      const interfaces = await bench.client.dump('sw_interface_dump', fields);
      const index = interfaces.find(({ tag }) => tag === iface)?.sw_if_index ?? ALL;
      const acls = await bench.client.dump('acl_dump', { acl_index: ALL });
      const tags = new Map(acls.map(({ acl_index, tag }) => [acl_index, tag]));
      const [list] = await bench.client.dump('acl_interface_list_dump', { sw_if_index: index });
      const named = list?.acls.map((each) => tags.get(each)) ?? [];
      return { ingress: named.slice(0, list?.n_input), egress: named.slice(list?.n_input) };
    };

    test('many ACLs on one interface in one transaction, in the order of their names', async () => {
      const names = ['h', 'c', 'a', 'g', 'b', 'f', 'd', 'e'];
      const on = { ingress: ['a', 'b'], egress: ['a'] };
      await bench.apply(loop('a'), loop('b'), ...names.map((name) => acl(name, on)));
      const sorted = names.toSorted();
      assert.deepEqual(await bound('a'), { ingress: sorted, egress: sorted });
      await bench.agent.update(
        new Map([[acl('d').key, null], ...toMap([acl('e', { egress: ['a'] })])]),
      );
      assert.deepEqual(await bound('a'), {
        ingress: sorted.filter((name) => !['d', 'e'].includes(name)),
        egress: sorted.filter((name) => name !== 'd'),
      });
      await bench.agent.assertSettled();
    });

    const up = loop('a', { enabled: true });
    const withAcls = [acl('x', { ingress: ['a'], egress: ['a'] }), acl('y', { egress: ['a'] }), up];
    const complete = { ingress: ['x'], egress: ['x', 'y'] };
    const isUp = async () => {
      const fields = { sw_if_index: ALL, name_filter_valid: false, name_filter: '' };
      const interfaces = await bench.client.dump('sw_interface_dump', fields);
      return interfaces.some(({ tag, flags }) => tag === 'a' && (flags & 1) === 1);
    };
    const SET_LIST = 'acl_interface_set_acl_list';
    /** The interface goes up after its list was set. */
    const assertClosedUntilBound = (asked: readonly string[]) => {
      const last = asked.lastIndexOf(SET_LIST);
      assert.ok(last >= 0 && asked.indexOf('sw_interface_set_flags') > last, asked.join(' '));
    };

    test('an interface gets all its ACLs in one message, and goes up after that', async () => {
      bench.taken();
      await bench.put(...withAcls);
      const asked = bench.taken();
      assertClosedUntilBound(asked);
      assert.equal(asked.filter((name) => name === SET_LIST).length, 1);
      assert.deepEqual(await bound('a'), complete);
      await bench.agent.assertSettled();
    });

    test('an interface whose ACL is refused does not come before it', async () => {
      bench.faulty.refuse(1);
      await bench.agent.attempt(toMap(withAcls), false);
      assert.equal(bench.taken()[0], 'acl_add_replace');
      bench.faulty.refuse(0);
      assert.equal(await isUp(), false);
      await bench.agent.recover();
      assertClosedUntilBound(bench.taken());
      assert.deepEqual(await bound('a'), complete);
      assert.equal(await isUp(), true);
      await bench.agent.assertSettled();
    });

    test('whenever the agent crashes, an interface is up only with all its ACLs', async () => {
      let isCut = true;
      for (let n = 1; isCut; n++) {
        bench.faulty.cut(n);
        await bench.agent.attempt(toMap(withAcls), false);
        isCut = bench.faulty.changes >= n;
        bench.faulty.cut(0);
        if (await isUp()) assert.deepEqual(await bound('a'), complete, `cut at ${n}`);
        const wasUp = await isUp();
        await bench.restart(...withAcls);
        const asked = bench.taken();
        if (!wasUp && asked.includes(SET_LIST)) assertClosedUntilBound(asked);
        assert.deepEqual(await bound('a'), complete);
        assert.equal(await isUp(), true);
        await bench.restart();
      }
    });

    test('ACLs that were reordered externally are sorted again', async () => {
      const values = [loop('a'), ...['a', 'b', 'c'].map((name) => acl(name, { egress: ['a'] }))];
      await bench.apply(...values);
      const lists = await bench.client.dump('acl_interface_list_dump', { sw_if_index: ALL });
      const list = lists.find(({ acls }) => acls.length === 3);
      assert.ok(list);
      await bench.client.request('acl_interface_set_acl_list', {
        ...list,
        acls: list.acls.toReversed(),
      });
      await bench.agent.reconcile();
      assert.deepEqual(await bound('a'), { ingress: [], egress: ['a', 'b', 'c'] });
      await bench.agent.assertSettled();
    });

    test('the rules of an ACL that is bound change under its index, in one message', async () => {
      await bench.apply(loop('a'), acl('x', { egress: ['a'] }));
      const [before] = await bench.client.dump('acl_dump', { acl_index: ALL });
      const rules = [permit('10.9.0.0/16')];
      await bench.put(keyedValue(aclModel, { name: 'x', rules, interfaces: { egress: ['a'] } }));
      assert.deepEqual(bench.taken(), ['acl_add_replace']);
      const [now] = await bench.client.dump('acl_dump', { acl_index: ALL });
      assert.equal(now?.acl_index, before?.acl_index);
      assert.equal(now?.r.length, 1);
    });

    test('unmanaged ACLs keep their order, before managed ones', async () => {
      await bench.apply(loop('a'), acl('x', { egress: ['a'] }));
      const theirs: number[] = [];
      for (const tag of ['', 'cli']) {
        const made = await bench.client.request('acl_add_replace', {
          acl_index: ALL,
          tag,
          r: [permitAll],
        });
        theirs.push(made.acl_index);
      }
      const lists = await bench.client.dump('acl_interface_list_dump', { sw_if_index: ALL });
      const ours = lists.find(({ acls }) => acls.length === 1);
      assert.ok(ours);
      const [first = 0, second = 0] = theirs;
      const acls = [...ours.acls, second, first];
      await bench.client.request('acl_interface_set_acl_list', { ...ours, acls });
      await bench.put(acl('w', { egress: ['a'] }));
      assert.deepEqual((await bound('a')).egress, ['cli', '', 'w', 'x']);
      await bench.restart(loop('a'));
      assert.deepEqual((await bound('a')).egress, ['cli', '']);
      const left = await bench.client.dump('acl_dump', { acl_index: ALL });
      assert.deepEqual(left.map(({ tag }) => tag).sort(), ['', 'cli']);
      await bench.restart();
      for (const acl_index of theirs) await bench.client.request('acl_del', { acl_index });
    });

    test('an ACL that was bound externally is deleted, and one with the tag of another too', async () => {
      const { sw_if_index } = await bench.client.request('create_loopback', {
        mac_address: new Uint8Array(6),
      });
      await bench.apply(acl('x'));
      const [made] = await bench.client.dump('acl_dump', { acl_index: ALL });
      assert.ok(made);
      const { acl_index } = made;
      await bench.client.request('acl_interface_add_del', {
        sw_if_index,
        acl_index,
        is_input: true,
      });
      await bench.client.request('acl_add_replace', { ...made, acl_index: ALL });
      await bench.restart(acl('x'));
      assert.equal((await bench.client.dump('acl_dump', { acl_index: ALL })).length, 1);
      await bench.restart();
      assert.deepEqual(await bench.client.dump('acl_dump', { acl_index: ALL }), []);
      await bench.client.request('delete_loopback', { sw_if_index });
    });
  });
}
