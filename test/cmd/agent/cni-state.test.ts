/** The state of the agent that the CNI service reports. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cniState } from '#cmd/agent/assembly/cni-state.ts';
import { TestNode } from '#test/plugins/test-node.ts';

type Deps = Parameters<typeof cniState>[0];

test('has the pod CIDR from the first successful resync on, and not because the event loop has failed', async () => {
  const node = new TestNode();
  const { ipam, net } = node;
  const status = { component: (name: string) => ({ name, state: 'error', error: 'the disk' }) };
  const { podCidr, readiness } = cniState({ status, ipam, net } as unknown as Deps);
  assert.deepEqual(readiness(), { ready: false, limited: true, reason: 'the disk' });
  assert.equal(podCidr(), undefined);
  const endAborting = node.abortResyncs();
  await node.resync();
  assert.equal(podCidr(), undefined);
  endAborting();
  assert.equal((await node.heal()).error, undefined);
  assert.equal(podCidr(), '10.1.1.0/24');
});
