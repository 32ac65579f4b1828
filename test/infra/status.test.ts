import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { probeRoutes } from '#infra/status/routes.ts';
import { StatusCheck } from '#infra/status/status.ts';

const build = { version: 'v1', date: '', commit: 'abc' };
const request = { query: {}, params: {}, body: undefined };

describe('status check', () => {
  it('is the worst of its components: one OK does not hide an ERROR of another', async () => {
    const status = new StatusCheck(new ManualClock(), build);
    assert.equal(status.state, 'ok');
    const a = status.register('a', 'liveness');
    const b = status.register('b', 'liveness');
    assert.equal(status.state, 'init');
    a('ok');
    assert.equal(status.state, 'init');
    b('error', new Error('bad'));
    a('ok');
    assert.equal(status.state, 'error');
    b('ok');
    assert.equal(status.state, 'ok');
  });

  it('does not fail liveness for init or for an unavailable database', async () => {
    const status = new StatusCheck(new ManualClock(), build);
    const [liveness, readiness] = probeRoutes(status);
    const codes = async () => [
      (await liveness!.handle(request)).status,
      (await readiness!.handle(request)).status,
    ];
    const agent = status.register('agent', 'liveness');
    const etcd = status.register('etcd', 'readiness');
    assert.deepEqual(await codes(), [200, 500]);
    agent('ok');
    etcd('ok');
    assert.deepEqual(await codes(), [200, 200]);
    etcd('error', 'away');
    assert.deepEqual(await codes(), [200, 500]);
    etcd('ok');
    agent('error', 'lost');
    assert.deepEqual(await codes(), [500, 500]);
  });

  it('writes the document of the Go agent', async () => {
    const clock = new ManualClock(1_700_000_000_000);
    const status = new StatusCheck(clock, build);
    const agent = status.register('controller', 'liveness');
    await clock.advance(2000);
    agent('error', new Error('lost'));
    await clock.advance(1000);
    assert.deepEqual(status.document(), {
      build_version: 'v1',
      state: 2,
      start_time: 1_700_000_000,
      last_change: 1_700_000_002,
      last_update: 1_700_000_003,
      commit_hash: 'abc',
      plugins: [{ name: 'controller', state: 2, error: 'lost' }],
      PluginStatus: {
        controller: {
          name: 'controller',
          state: 2,
          last_change: 1_700_000_002,
          last_update: 1_700_000_002,
          error: 'lost',
        },
      },
      NonFatalPlugins: null,
    });
  });
});

describe('rfc3339', () => {
  it('carries microseconds', () => {
    assert.equal(rfc3339(0), '1970-01-01T00:00:00Z');
    assert.equal(rfc3339(1_700_000_000_123.456), '2023-11-14T22:13:20.123456Z');
    assert.equal(rfc3339(999.9999), '1970-01-01T00:00:01Z');
  });
});
