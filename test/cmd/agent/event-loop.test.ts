/** The event loop of a whole agent, through its REST server. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FatalError } from '#plugins/controller/api/errors.ts';
import { defineEvent, EventMethod } from '#plugins/controller/api/event.ts';
import {
  addPod,
  cniRequest,
  makeNode,
  type RunningAgent,
  reflectPod,
  startAgent,
  until,
} from './harness.ts';

const Deadly = defineEvent<object>({
  id: 'deadly',
  blocking: false,
  name: 'Deadly',
  method: () => {
    throw new FatalError('nothing helps');
  },
});
const Recalculate = defineEvent<object>({
  id: 'recalculate',
  blocking: false,
  name: 'Recalculate',
  method: EventMethod.UpstreamResync,
});

interface ShownEvent {
  readonly Name: string;
  readonly Description: string;
  readonly Handlers: readonly { readonly Handler: string; readonly TookMs: number }[];
  readonly Trace: {
    readonly Origin: Readonly<Record<string, string>> | null;
    readonly QueuedMs: number;
    readonly TotalMs: number;
    readonly CommitMs: number | null;
    readonly Transaction: Readonly<Record<string, number>> | null;
  };
}

const web = { name: 'web', containerId: 'c1', netns: '/run/netns/web' };
const history = async (running: RunningAgent, query = '') =>
  (await running.get(`/controller/event-history${query}`)).body as ShownEvent[];
const idle = (running: RunningAgent) => until(() => running.agent.controller.isIdle);

describe('an agent after a fatal error', () => {
  it('stays in state ERROR and keeps serving REST [R5.31]', async () => {
    await using running = await startAgent(makeNode());
    assert.equal((await running.get('/liveness')).status, 200);
    await until(async () => (await running.get('/readiness')).status === 200);
    running.agent.controller.push(Deadly.event({}));
    await until(async () => (await running.get('/liveness')).status === 500);
    assert.equal((await running.get('/readiness')).status, 500);
    const { body } = await running.get('/liveness');
    const parts = (body as { PluginStatus: Record<string, { error?: string }> }).PluginStatus;
    assert.match(parts['controller']!.error!, /nothing helps/);
    const answer = await running.client.add(cniRequest(web));
    assert.notEqual(answer.result, 0);
    assert.match(answer.error, /aborting after a fatal error/);
    assert.equal((await history(running))[0]!.Name, 'Database Resync');
    assert.equal((await running.get('/scheduler/dump')).status, 200);
    assert.equal((await running.get('/liveness')).status, 500);
  });
});

describe('the trace of an event', () => {
  it('leads from a key and its revision, or a container, to the operations [R8.9]', async () => {
    await using running = await startAgent(makeNode());
    await addPod(running, web);
    await reflectPod(running.node, web, '10.1.1.2');
    const key = '/vnf-agent/contiv-ksr/k8s/pod/web/namespace/default';
    const isChange = ({ Trace }: ShownEvent) => Trace.Origin?.['Key'] === key;
    await until(async () => (await history(running)).some(isChange));
    const events = await history(running);
    const change = events.find(isChange)!;
    assert.equal(change.Name, 'Kubernetes State Change');
    assert.ok(change.Trace.Origin!['Revision']);
    assert.ok(change.Trace.Origin!['Heard']);
    const added = events.find(({ Name }) => Name === 'Add Pod default/web')!;
    assert.deepEqual(added.Trace.Origin, { Container: 'c1' });
    const { Operations, PlanningMs, ExecutionMs } = added.Trace.Transaction!;
    assert.ok(Operations! >= 5);
    assert.ok(PlanningMs! >= 0 && ExecutionMs! > 0);
    assert.ok(added.Trace.CommitMs! <= added.Trace.TotalMs);
    for (const { TookMs } of added.Handlers) assert.ok(TookMs >= 0);
    const text = await fetch(
      `http://127.0.0.1:${running.agent.port}/controller/event-history?format=text`,
    );
    assert.match(await text.text(), /^#\d+ .* Add Pod default\/web$/m);
    const metrics = await fetch(`http://127.0.0.1:${running.agent.port}/metrics`);
    assert.match(
      await metrics.text(),
      /^contiv_controller_event_total_seconds_count\{event="add-pod"\} 1$/m,
    );
  });
});

describe('verification mode', () => {
  it('finds no difference in handlers, VPP and Linux while pods are added and deleted [R7.2] [R7.3]', async () => {
    await using running = await startAgent(makeNode(), {
      controller: { enableVerification: true },
    });
    for (let n = 0; n < 3; n++) {
      const pod = { name: `p${n}`, containerId: `c${n}`, netns: `/run/netns/p${n}` };
      await addPod(running, pod);
      await reflectPod(running.node, pod, `10.1.1.${n + 2}`);
    }
    await running.client.delete(
      cniRequest({ name: 'p1', containerId: 'c1', netns: '/run/netns/p1' }),
    );
    running.agent.controller.push(Recalculate.event({}));
    await idle(running);
    const { status, body } = await running.get('/controller/verification');
    assert.equal(status, 200);
    const { Resyncs, ...found } = body as { Resyncs: number };
    assert.ok(Resyncs >= 5);
    assert.deepEqual(found, {
      Enabled: true,
      InternalDataDifferences: 0,
      ConfigurationDifferences: 0,
      Differences: [],
    });
  });
});
