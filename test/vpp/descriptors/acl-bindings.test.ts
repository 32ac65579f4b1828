import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { VppClient } from '#vpp/binapi/api.ts';
import { AclBindings } from '#vpp/descriptors/acl/bindings.ts';

it('an interface does not get an ACL that is deleted while its list is read', async () => {
  const dumped = Promise.withResolvers<unknown[]>();
  const lists: unknown[] = [];
  const client = {
    dump: () => dumped.promise,
    request: async (_name: string, { acls }: { acls: number[] }) => lists.push(acls),
  };
  const bindings = new AclBindings(client as unknown as VppClient);
  for (const [index, name] of ['deleted', 'kept'].entries())
    bindings.create(
      { name, rules: [], interfaces: { ingress: ['a'], egress: [] } },
      Promise.resolve(index),
    );
  const bound = bindings.setAll(7, 'a');
  await new Promise(setImmediate);
  bindings.remove(0, 'deleted');
  dumped.resolve([{ sw_if_index: 7, n_input: 0, acls: [] }]);
  await bound;
  assert.deepEqual(lists, [[1]]);
});

it('binds all ACLs that an interface gets by one message', async () => {
  const lists: unknown[] = [];
  let bound = { n_input: 0, acls: [] as number[] };
  const client = {
    dump: async () => [{ sw_if_index: 7, ...bound }],
    request: async (_name: string, list: typeof bound) => {
      bound = list;
      lists.push([list.n_input, ...list.acls]);
    },
  };
  const bindings = new AclBindings(client as unknown as VppClient);
  const created = Promise.withResolvers<number>();
  const output = { name: 'out', rules: [], interfaces: { ingress: [], egress: ['a'] } };
  const input = { name: 'reflection', rules: [], interfaces: { ingress: ['a'], egress: [] } };
  bindings.create(output, Promise.resolve(0));
  bindings.create(input, created.promise);
  const first = bindings.bind(7, 'a', 'egress', 0);
  await new Promise(setImmediate);
  assert.deepEqual(lists, []);
  created.resolve(1);
  await first;
  await bindings.bind(7, 'a', 'ingress', 1);
  assert.deepEqual(lists, [[1, 1, 0]]);
  await bindings.unbind(7, 'egress', 0);
  assert.deepEqual(lists.at(-1), [1, 1]);
});

it('binds an ACL whose counterpart is refused', async () => {
  const lists: unknown[] = [];
  const client = {
    dump: async () => [{ sw_if_index: 7, n_input: 0, acls: [] }],
    request: async (_name: string, { acls }: { acls: number[] }) => lists.push(acls),
  };
  const bindings = new AclBindings(client as unknown as VppClient);
  const interfaces = { ingress: ['a'], egress: [] };
  bindings.create({ name: 'refused', rules: [], interfaces }, Promise.reject(new Error('full')));
  bindings.create({ name: 'made', rules: [], interfaces }, Promise.resolve(1));
  await bindings.bind(7, 'a', 'ingress', 1);
  assert.deepEqual(lists, [[1]]);
});
