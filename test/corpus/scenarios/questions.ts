/** REST documents, with their options. */
import { tellOfNode } from '#test/cmd/agent/scenario.ts';
import type { Recording } from '../recording.ts';
import { attach, second, started, web } from './support.ts';

/** Requests of an operator; the pod has a pair of virtual Ethernet interfaces. */
export async function questions(recording: Recording): Promise<void> {
  const agent = await started(recording, 'agent', { contiv: { useTAPInterfaces: false } });
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
      values: { [`${interfaces}/afpacket-vpp2`]: null, [`${interfaces}/host-eth1`]: null },
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
