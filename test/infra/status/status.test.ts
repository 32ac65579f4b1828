import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { ProbeDocument } from '#documents/probes.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { livenessDocument, readinessDocument } from '#infra/status/document.ts';
import { probeRoutes } from '#infra/status/routes.ts';
import { StatusCheck } from '#infra/status/status.ts';

const build = { version: 'v1', date: '', commit: 'abc' };
const request = { query: {}, params: {}, body: undefined };

describe('status check', () => {
  it('is the worst of its components: one OK does not hide an ERROR of another', () => {
    const status = new StatusCheck(new ManualClock(), build);
    assert.equal(status.overall.state, 'ok');
    const a = status.register('a', 'liveness');
    const b = status.register('b', 'state');
    assert.equal(status.overall.state, 'init');
    a('ok');
    assert.equal(status.overall.state, 'init');
    b('error', new Error('bad'));
    a('ok');
    assert.equal(status.overall.state, 'error');
    b('ok');
    assert.equal(status.overall.state, 'ok');
  });

  it('does not fail liveness for init or for an unavailable database', async () => {
    const status = new StatusCheck(new ManualClock(), build);
    const [liveness, readiness] = probeRoutes(status);
    const answers = async () =>
      Promise.all(
        [liveness, readiness].map(async (route) => {
          const { status: code, body } = await route!.handle(request);
          return [code, (body as { state?: number }).state];
        }),
      );
    const controller = status.register('controller', 'liveness');
    const vpp = status.register('vpp', 'state');
    const etcd = status.register('etcd', 'readiness');
    const kafka = status.register('kafka', 'none');
    assert.deepEqual(await answers(), [
      [200, undefined],
      [500, undefined],
    ]);
    for (const report of [controller, vpp, etcd, kafka]) report('ok');
    const good = [
      [200, 1],
      [200, 1],
    ];
    assert.deepEqual(await answers(), good);
    kafka('error', 'away');
    assert.deepEqual(await answers(), good);
    etcd('error', 'away');
    assert.deepEqual(await answers(), [
      [200, 1],
      [500, 2],
    ]);
    etcd('ok');
    vpp('error', 'disconnected');
    assert.deepEqual(await answers(), [
      [200, 2],
      [500, 2],
    ]);
    vpp('ok');
    controller('error', 'lost');
    assert.deepEqual(await answers(), [
      [500, 2],
      [500, 2],
    ]);
  });

  it('keeps the time since when a component is at fault while the reason changes', async () => {
    const clock = new ManualClock(1_700_000_000_000);
    const status = new StatusCheck(clock, build);
    const etcd = status.register('etcd', 'readiness');
    await clock.advance(1000);
    etcd('error', 'connection refused');
    await clock.advance(1000);
    etcd('error', 'deadline exceeded');
    const { error, lastChange, lastUpdate } = status.component('etcd');
    assert.deepEqual(
      { error, lastChange, lastUpdate },
      { error: 'deadline exceeded', lastChange: 1_700_000_001, lastUpdate: 1_700_000_002 },
    );
  });

  it('calls its listeners for each changed state or reason, and for nothing else', () => {
    const status = new StatusCheck(new ManualClock(), build);
    const changed: string[] = [];
    status.onChange((name) => changed.push(name));
    const a = status.register('a', 'state');
    let problem: string | undefined;
    status.registerProblem('b', 'none', () => problem);
    a('ok');
    a('ok');
    status.readProblems();
    problem = 'one';
    status.readProblems();
    problem = 'two';
    status.readProblems();
    status.readProblems();
    assert.deepEqual(changed, ['a', 'b', 'b']);
  });

  it('takes a component whose state cannot be read as one in error, and reads the others', () => {
    const status = new StatusCheck(new ManualClock(), build);
    let isBroken = true;
    status.registerProblem('a', 'state', () => {
      if (isBroken) throw new Error('defect');
      return undefined;
    });
    status.registerProblem('b', 'none', () => 'full');
    status.readProblems();
    assert.equal(status.component('a').error, 'its state cannot be read: defect');
    assert.equal(status.component('b').error, 'full');
    isBroken = false;
    status.readProblems();
    assert.equal(status.overall.state, 'ok');
  });

  it('writes the documents of the Go agent', async () => {
    const clock = new ManualClock(1_700_000_000_000);
    const status = new StatusCheck(clock, build);
    const controller = status.register('controller', 'liveness');
    const etcd = status.register('etcd', 'readiness');
    await clock.advance(2000);
    controller('error', new Error('lost'));
    etcd('ok');
    await clock.advance(1000);
    const liveness = {
      build_version: 'v1',
      state: 2,
      start_time: 1_700_000_000,
      last_change: 1_700_000_002,
      last_update: 1_700_000_003,
      commit_hash: 'abc',
      plugins: [
        { name: 'controller', state: 2, error: 'lost' },
        { name: 'etcd', state: 1 },
      ],
      PluginStatus: {
        controller: {
          name: 'controller',
          state: 2,
          last_change: 1_700_000_002,
          last_update: 1_700_000_002,
          error: 'lost',
        },
        etcd: {
          name: 'etcd',
          state: 1,
          last_change: 1_700_000_002,
          last_update: 1_700_000_002,
        },
      },
      NonFatalPlugins: ['etcd'],
    };
    assert.deepEqual(livenessDocument(status), liveness);
    assert.deepEqual(readinessDocument(status), { ...liveness, interface_stats: {} });
    assert.ok(Value.Check(ProbeDocument, readinessDocument(status)));
    assert.deepEqual(Object.keys(readinessDocument(status)).slice(3, 8), [
      'last_change',
      'last_update',
      'interface_stats',
      'commit_hash',
      'plugins',
    ]);
  });
});

describe('rfc3339', () => {
  it('carries microseconds', () => {
    assert.equal(rfc3339(0), '1970-01-01T00:00:00Z');
    assert.equal(rfc3339(1_700_000_000_123.456), '2023-11-14T22:13:20.123456Z');
    assert.equal(rfc3339(999.9999), '1970-01-01T00:00:01Z');
  });
});
