/** A pod that VPP refuses in the middle: its Add Pod fails, and everything is undone. */
import assert from 'node:assert/strict';
import { addPod, type RunningAgent } from '#test/cmd/agent/harness.ts';

export const UNLUCKY_ERROR = /VPP answered -1/;

/** @returns numbers of its event and its transaction */
export async function addUnluckyPod(
  running: RunningAgent,
): Promise<{ readonly event: number; readonly transaction: number }> {
  const { faults } = running.node.vpp;
  const isChange = ({ kind, name }: { readonly kind: string; readonly name: string }) =>
    kind === 'request' && !/_get(_|$)|show_/.test(name);
  faults.add(4, { refuse: -1 }, isChange);
  const pod = { name: 'unlucky', containerId: 'f0'.repeat(32), netns: '/run/netns/unlucky' };
  const reply = await addPod(running, pod);
  faults.clear();
  assert.match(reply.error, UNLUCKY_ERROR);
  const record = running.agent.controller.history.records.findLast(
    ({ name }) => name === 'Add Pod default/unlucky',
  );
  assert.ok(record?.transaction !== undefined);
  return { event: record.seqNum, transaction: record.transaction };
}
