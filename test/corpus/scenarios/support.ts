/** Pods, nodes and steps that the scenarios share. */
import type { AgentOptions, TestPod } from '#test/cmd/agent/harness.ts';
import { type Machine, makeMachine, RecordedAgent } from '../record.ts';
import type { Recording } from '../recording.ts';

export function pod(name: string, container: string): TestPod {
  return { name, containerId: container.repeat(64), netns: `/run/netns/${name}-${container}` };
}

export const web = pod('web', 'a');
export const second = { address: '172.16.0.6', id: 2, vpp: '192.168.16.2/24' };

export async function started(
  recording: Recording,
  name: string,
  options: AgentOptions = {},
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
