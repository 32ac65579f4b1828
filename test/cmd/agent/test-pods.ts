/** Pods of the agent's tests: how kubelet and the reflector create and delete them. */
import assert from 'node:assert/strict';
import {
  addPod,
  cniRequest,
  type Node,
  type RunningAgent,
  reflectPod,
  replyAddress,
  type TestPod,
  unreflectPod,
  until,
} from './harness.ts';

/** @param digits repeated as the ID of its container */
export function testPod(name: string, digits: string): TestPod {
  const containerId = digits.repeat(64 / digits.length);
  return { name, containerId, netns: `/run/netns/${name}` };
}

export const web = testPod('web', 'a');
export const db = testPod('db', 'b');

/** Adds the pod and writes its record. @returns its address */
export async function create(running: RunningAgent, pod: TestPod): Promise<string> {
  const reply = await addPod(running, pod);
  assert.equal(reply.error, '');
  const address = replyAddress(reply);
  await reflectPod(running.node, pod, address);
  return address;
}

/** Ends the pod as a job does: its sandbox is removed, its record stays. */
export async function complete(running: RunningAgent, pod: TestPod): Promise<void> {
  assert.equal((await running.client.delete(cniRequest(pod))).error, '');
  running.node.linux.removeNamespace(pod.netns);
}

/** Deletes the pod and its record. */
export async function remove(running: RunningAgent, pod: TestPod): Promise<void> {
  await complete(running, pod);
  await unreflectPod(running.node, pod);
}

/** Waits until the local store has no address of a pod. */
export async function untilNoAddressIsStored({ local }: Node): Promise<void> {
  await until(async () => (await local.list('local/ipam/address')).entries.length === 0);
}

/** `ready`, or the body of the reply. */
export async function readiness(running: RunningAgent): Promise<string> {
  const { status, body } = await running.get('/readiness');
  return status === 200 ? 'ready' : JSON.stringify(body);
}

/** Addresses by name of the pod, as the agent answers. */
export async function allocations(running: RunningAgent): Promise<Record<string, string>> {
  const { body } = await running.get('/contiv/v1/ipam/allocations');
  const { Pods } = body as { Pods: { PodID: { Name: string }; MainIP: string }[] };
  return Object.fromEntries(Pods.map(({ PodID, MainIP }) => [PodID.Name, MainIP]));
}
