/** Pods, nodes and steps that the scenarios share. */
import { resolve } from 'node:path';
import { HealingResync } from '#plugins/controller/api/events.ts';
import type { TestPod } from '#test/cmd/agent/harness.ts';
import { type Machine, makeMachine, RecordedAgent, type RecordedOptions } from '../record.ts';
import type { Recording } from '../recording.ts';

export const examplesFolder = resolve(import.meta.dirname, '../../../examples');
export const KUBE_PREFIX = '/vnf-agent/contiv-ksr/';
export const EXTERNAL_PREFIX = '/vnf-agent/node1/config/';

export function pod(name: string, container: string): TestPod {
  return { name, containerId: container.repeat(64), netns: `/run/netns/${name}-${container}` };
}

export const web = pod('web', 'a');
export const other = pod('other', 'c');
export const webAgain = pod('web', 'b');
export const late = pod('late', 'f');
export const second = { address: '172.16.0.6', id: 2, vpp: '192.168.16.2/24' };
export const third = { address: '172.16.0.7', id: 3, vpp: '192.168.16.3/24' };

export async function started(
  recording: Recording,
  name: string,
  options: RecordedOptions = {},
  machine?: Machine,
): Promise<RecordedAgent> {
  const agent = new RecordedAgent(machine ?? (await makeMachine()), recording, name, options);
  await agent.start();
  return agent;
}

/** The runtime makes the namespace, then asks for the interface. */
export async function attach(agent: RecordedAgent, one: TestPod): Promise<string> {
  agent.machine.linux.addNamespace(one.netns);
  return agent.addPod(one);
}

export const heal = (agent: RecordedAgent): Promise<void> =>
  agent.step('healing', async () => {
    const event = HealingResync.event({ type: 'after-error', error: 'asked for' });
    await agent.controller.pushAndWait(event).catch(() => undefined);
  });
