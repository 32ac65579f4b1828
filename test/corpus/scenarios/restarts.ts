/** Restarts of an agent. */
import { reflectPod } from '#test/cmd/agent/harness.ts';
import { tellOfNode } from '#test/cmd/agent/scenario.ts';
import { RecordedAgent } from '../record.ts';
import type { Recording } from '../recording.ts';
import { attach, pod, second, started, web } from './support.ts';

const other = pod('other', 'c');
const webAgain = pod('web', 'b');

/** An agent, then others on the same machine: VPP, the machine or nothing is new; at the end an undeploy. */
export async function restarts(recording: Recording): Promise<void> {
  const first = await started(recording, 'first');
  const { machine } = first;
  await first.step('node2 joins', () => tellOfNode(machine, 'node2', second), 500);
  await reflectPod(machine, web, await attach(first, web));
  await attach(first, other);
  await first.stop();

  const again = await started(recording, 'second', {}, machine);
  await again.addPod(web);
  await again.histories();
  await again.stop();

  machine.vpp.crash();
  await machine.vpp.start();
  machine.linux.removeNamespace(other.netns);
  const empty = await started(recording, 'VPP is new, a pod is deleted', {}, machine);
  await empty.deletePod(other);
  await empty.histories();
  await empty.stop();

  machine.linux.reboot();
  machine.vpp.crash();
  await machine.vpp.start();
  const booted = await started(recording, 'the machine is new', {}, machine);
  await attach(booted, webAgain);
  await booted.histories();
  await booted.stop();

  machine.vpp.faults.add(1, { refuse: -1 }, ({ name }) => name.startsWith('ip_route_add_del'));
  await new RecordedAgent(machine, recording, 'undeploy refused').undeploy();
  machine.vpp.faults.clear();
  const last = new RecordedAgent(machine, recording, 'undeploy');
  await last.undeploy();
  await last.finalState([webAgain.netns]);

  const redeployed = await started(recording, 'after the undeploy', {}, machine);
  await redeployed.histories();
  await redeployed.stop();
}
