import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { agentPrefix } from '#infra/service-label/service-label.ts';
import { agentKey, agentRecord, componentKey, componentRecord } from '#infra/status/record.ts';
import { type ComponentStatus, StatusCheck } from '#infra/status/status.ts';

interface Golden {
  readonly keys: Readonly<Record<'agent' | 'vpp' | 'etcd', string>>;
  readonly agent: Readonly<Record<'starting' | 'error', string>>;
  readonly component: Readonly<Record<'starting' | 'ok' | 'error', string>>;
}

const golden = JSON.parse(readFileSync(join(import.meta.dirname, 'golden.json'), 'utf8')) as Golden;

describe('records of the status in etcd', () => {
  it('have the keys of the Go agent', () => {
    const prefix = agentPrefix('node1');
    assert.equal(agentKey(prefix), golden.keys.agent);
    assert.equal(componentKey(prefix, 'vpp'), golden.keys.vpp);
    assert.equal(componentKey(prefix, 'etcd'), golden.keys.etcd);
  });

  it('have its encoding of the agent', async () => {
    const clock = new ManualClock(1_700_000_000_000);
    const empty = new StatusCheck(clock, { version: 'v0', date: '', commit: '' });
    const report = empty.register('controller', 'liveness');
    // its record of a starting agent has no plugins yet
    const starting = JSON.parse(agentRecord(empty)) as Record<string, unknown>;
    assert.deepEqual(starting, {
      ...(JSON.parse(golden.agent.starting) as object),
      plugins: [{ name: 'controller' }],
    });
    report('ok');

    const build = { version: 'v0', date: '2017-06-16.14:59', commit: 'abc' };
    const status = new StatusCheck(clock, build);
    const controller = status.register('controller', 'liveness');
    const vpp = status.register('vpp', 'state');
    status.register('etcd', 'readiness');
    await clock.advance(2000);
    controller('ok');
    vpp('error', new Error('VPP "disconnected" <&> ü'));
    await clock.advance(1000);
    assert.equal(agentRecord(status), golden.agent.error);
  });

  it('have the time of a wall clock that was set', async () => {
    const clock = new ManualClock(1_700_000_000_000);
    const status = new StatusCheck(clock, { version: 'v0', date: '', commit: '' });
    const report = status.register('vpp', 'state');
    clock.stepWallClock(-3_600_000);
    report('ok');
    await clock.advance(10_000);
    const record = JSON.parse(agentRecord(status)) as Record<string, string>;
    assert.equal(record['last_change'], String(1_700_000_000 - 3600));
    assert.equal(record['last_update'], String(1_700_000_000 - 3600 + 10));
  });

  it('have its encoding of a component', () => {
    const status: ComponentStatus = {
      name: 'vpp',
      affects: 'state',
      state: 'init',
      error: undefined,
      lastChange: 1_496_322_205,
      lastUpdate: 0,
    };
    const now = 1_496_322_361;
    assert.equal(componentRecord(status, now), golden.component.starting);
    assert.equal(componentRecord({ ...status, state: 'ok' }, now), golden.component.ok);
    const failed: ComponentStatus = { ...status, state: 'error', error: 'VPP disconnected' };
    assert.equal(componentRecord(failed, now), golden.component.error);
  });

  it('stay small, however long the text of an error is', () => {
    const status = new StatusCheck(new ManualClock(), { version: '', date: '', commit: '' });
    const report = status.register('configuration', 'state');
    report('error', '😀'.repeat(100_000));
    const texts = [agentRecord(status), componentRecord(status.component('configuration'), 0)];
    for (const text of texts) {
      assert.ok(text.length < 1_300, `${text.length} characters`);
      assert.ok(text.isWellFormed());
    }
  });
});
