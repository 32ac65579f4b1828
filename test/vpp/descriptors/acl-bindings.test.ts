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
