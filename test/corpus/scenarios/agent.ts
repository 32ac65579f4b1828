/** Faults of the stores of an agent, its restarts, and requests of operators. */
import { FaultInjectingStore } from '#datastore/fault-injection.ts';
import { reflectPod } from '#test/cmd/agent/harness.ts';
import { tellOfNode } from '#test/cmd/agent/scenario.ts';
import { type Machine, makeMachine, RecordedAgent } from '../record.ts';
import type { Recording } from '../recording.ts';
import { attach, other, second, started, third, web, webAgain } from './support.ts';

/** The datastore is unavailable, loses a watch, drops changes. */
export async function storeFaults(recording: Recording): Promise<void> {
  const plain = await makeMachine();
  const cluster = new FaultInjectingStore(plain.cluster);
  const machine: Machine = { ...plain, cluster };
  const agent = await started(recording, 'agent', {}, machine);
  await agent.step('out of reach', () => cluster.disconnect(), 10_000);
  await agent.document('/readiness');
  await attach(agent, web);
  await agent.step('node2 joins unheard', () => tellOfNode(plain, 'node2', second), 1000);
  await agent.step('in reach', () => cluster.reconnect(), 10_000);
  await agent.step('a watch is lost', () => cluster.loseWatches('compacted'), 5000);
  cluster.isDropped = () => true;
  await agent.step(
    'node3 joins, the change is dropped',
    () => tellOfNode(plain, 'node3', third),
    1000,
  );
  cluster.isDropped = undefined;
  await agent.step('compared', () => agent.pass(400_000, 20_000));
  await agent.histories();
  await agent.document('/metrics', { large: true });
  await agent.finalState();
  await agent.stop();
  cluster.disconnect();
  const blind = new RecordedAgent(machine, recording, 'without the store');
  await blind.start();
  await blind.step('the mirror is used', () => undefined, 8000);
  await blind.step('in reach', () => cluster.reconnect(), 10_000);
  await blind.histories(true);
  await blind.stop();
}

export async function restarts(recording: Recording): Promise<void> {
  for (const useTAPInterfaces of [true, false]) {
    const options = { contiv: { useTAPInterfaces } };
    const brief = { ...options, isBrief: true };
    const mode = useTAPInterfaces ? 'TAP' : 'VETH';
    const first = await started(recording, `${mode}, first`, brief);
    const { machine } = first;
    await first.step('node2 joins', () => tellOfNode(machine, 'node2', second), 500);
    await reflectPod(machine, web, await attach(first, web));
    await attach(first, other);
    await first.stop();

    const again = await started(recording, `${mode}, second`, options, machine);
    await again.addPod(web);
    await again.histories(!useTAPInterfaces);
    await again.stop();

    machine.vpp.crash();
    await machine.vpp.start();
    machine.linux.removeNamespace(other.netns);
    const empty = await started(
      recording,
      `${mode}, VPP is new, a pod is deleted`,
      options,
      machine,
    );
    await empty.deletePod(other);
    await empty.histories(true);
    await empty.stop();

    machine.linux.reboot();
    machine.vpp.crash();
    await machine.vpp.start();
    const booted = await started(recording, `${mode}, the machine is new`, brief, machine);
    await attach(booted, webAgain);
    await booted.histories(true);
    await booted.stop();

    machine.vpp.faults.add(1, { refuse: -1 }, ({ name }) => name.startsWith('ip_route_add_del'));
    await new RecordedAgent(machine, recording, `${mode}, undeploy refused`, options).undeploy();
    machine.vpp.faults.clear();
    const last = new RecordedAgent(machine, recording, `${mode}, undeploy`, options);
    await last.undeploy();
    await last.finalState([webAgain.netns]);

    const redeployed = await started(recording, `${mode}, after the undeploy`, brief, machine);
    await redeployed.histories(true);
    await redeployed.stop();
  }
}

export async function verified(recording: Recording): Promise<void> {
  const agent = await started(recording, 'agent', {
    env: { KVSCHED_VERIFY_MODE: '1' },
    controller: { enableVerification: true },
  });
  const { machine } = agent;
  await attach(agent, web);
  await agent.step('node2 joins', () => tellOfNode(machine, 'node2', second), 500);
  await agent.step('drift before a change', async () => {
    await machine.linux.deleteAddress(undefined, 'vpp1', '172.30.1.2/24');
    await tellOfNode(machine, 'node3', third);
  });
  await agent.deletePod(web);
  await agent.histories(true);
  await agent.document('/controller/verification');
  await agent.stop();
}

export async function questions(recording: Recording): Promise<void> {
  const agent = await started(recording, 'agent');
  const { machine } = agent;
  await agent.step('a minute passes', () => agent.pass(60_000, 5000));
  await attach(agent, web);
  await agent.step('a minute passes', () => agent.pass(60_000, 5000));
  await agent.step('node2 joins', () => tellOfNode(machine, 'node2', second), 60_000);
  await agent.deletePod(web);
  const interfaces = 'config/vpp/v2/interfaces';
  const typed = (value: object) => ({ type: 'ligato.vpp.interfaces.Interface', value });
  const loop1 = { name: 'loop1', type: 'SOFTWARE_LOOPBACK', enabled: true };
  const plans: unknown[] = [
    { mode: 'update', values: { [`${interfaces}/loop1`]: typed(loop1) } },
    { mode: 'update', values: { [`${interfaces}/podGwLoop`]: null } },
    {
      mode: 'update',
      values: { [`${interfaces}/tap-vpp2`]: null, [`${interfaces}/host-eth1`]: null },
    },
    {
      mode: 'update',
      values: { [`${interfaces}/host-eth1`]: typed({ ...loop1, name: 'host-eth1' }) },
    },
    { mode: 'resync', values: { [`${interfaces}/loop1`]: typed(loop1) } },
    { mode: 'resync', values: {} },
    { mode: 'update', values: { [`${interfaces}/loop1`]: typed({ name: 'else' }) } },
    { mode: 'update', values: { [`${interfaces}/loop1`]: { type: 'none', value: {} } } },
    { mode: 'update', values: { none: null } },
    { mode: 'other', values: {} },
    { values: 5 },
  ];
  for (const [index, body] of plans.entries())
    await agent.step(`plan ${index}`, () =>
      agent.document('/scheduler/plan', { method: 'POST', body, title: `plan ${index}` }),
    );
  const time = (minutes: number) => new Date(machine.clock.now() - minutes * 60_000).toISOString();
  const key = 'config/vpp/v2/interfaces/vxlan-default-2';
  const paths = [
    ...[0, 1.5, 2.5, 100].map(
      (minutes) => `/scheduler/key-timeline?key=${key}&time=${time(minutes)}`,
    ),
    `/scheduler/key-timeline?key=${key}`,
    '/scheduler/key-timeline?key=none',
    '/scheduler/key-timeline',
    `/scheduler/graph-snapshot?time=never`,
    `/scheduler/txn-history?since=${time(1.5)}`,
    `/scheduler/txn-history?until=${time(2.5)}`,
    '/scheduler/txn-history?seq-num=77',
    `/controller/event-history?since=${time(1.5)}&until=${time(0)}`,
    '/controller/event-history?from=1&to=2',
    '/controller/event-history?first=1',
    '/controller/event-history?last=2',
    '/scheduler/status?key-prefix=config/linux/',
    '/scheduler/dump?key-prefix=config/vpp/v2/interfaces/&view=NB',
    '/scheduler/flag-stats?flag=last-update&prefix=config/',
    '/scheduler/flag-stats?flag=unavailable',
    '/scheduler/flag-stats?flag=derived',
  ];
  for (const path of paths) await agent.step(path, () => agent.document(path));
  for (const minutes of [0.5, 1.5, 2.5, 100])
    for (const route of ['graph-snapshot', 'graph-snaphost']) {
      const path = `/scheduler/${route}?time=${time(minutes)}`;
      await agent.step(path, () => agent.document(path, { large: true }));
    }
  for (const number of [0, 1, 2, 99]) {
    const path = `/scheduler/graph?format=dot&txn=${number}`;
    await agent.step(path, () => agent.document(path, { large: true }));
  }
  const commands: [string, 'POST' | 'PUT', unknown?][] = [
    ['/scheduler/downstream-resync?retry=1&verbose=true', 'POST'],
    ['/scheduler/downstream-resync?retry=perhaps', 'POST'],
    ['/controller/resync', 'POST'],
    ['/vpp/command', 'POST', { vppclicommand: 'show version' }],
    ['/vpp/command', 'POST', { command: 'show version' }],
    ['/log/vpp/debug', 'PUT'],
    ['/log/vpp/loud', 'PUT'],
  ];
  for (const [path, method, body] of commands)
    await agent.step(`${method} ${path}`, () => agent.document(path, { method, body }), 500);
  await agent.histories();
  await agent.document('/log/list');
  await agent.stop();
}
