import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { Registry } from 'prom-client';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { NatSession } from '#plugins/controller/api/ports/nat-sessions.ts';
import { IdleSessions } from '#plugins/service/nat-sessions/idle-sessions.ts';
import { NatSessionMetrics } from '#plugins/service/nat-sessions/metrics.ts';
import type { StatsCollector } from '#plugins/statscollector/plugin.ts';
import { FakeNatSessions, statsCollector } from '#test/plugins/fake-ports.ts';

const TCP = 6;
const UDP = 17;
const MINUTE = 60_000;

function session(last: number, protocol: number, isExpired: boolean, port = 80): NatSession {
  return {
    protocol,
    table: 1,
    inside: { address: `10.1.1.${last}`, port },
    outside: { address: '10.1.1.200', port: 40_000 },
    isExpired,
  };
}

describe('idle NAT sessions', () => {
  let clock: ManualClock;
  let port: FakeNatSessions;
  let registry: Registry;
  let stats: StatsCollector;
  let component: IdleSessions;

  beforeEach(() => {
    clock = new ManualClock();
    port = new FakeNatSessions();
    registry = new Registry();
    stats = statsCollector();
    component = new IdleSessions({
      port,
      intervalMs: 5 * MINUTE,
      metrics: new NatSessionMetrics(registry, stats),
      clock,
      log: silentLogger,
    });
    component.init();
  });

  async function metrics(): Promise<Record<string, number | undefined>> {
    const all = await stats.registry.getMetricsAsJSON();
    const shown = all.filter(({ name }) => /session/i.test(name));
    return Object.fromEntries(shown.map(({ name, values }) => [name, values[0]?.value]));
  }

  test('are removed when they have expired, and counted', async () => {
    const busy = [session(2, TCP, false), session(3, UDP, false)];
    port.sessions = [...busy, session(2, TCP, true), session(3, UDP, true)];
    await clock.advance(5 * MINUTE - 1);
    assert.deepEqual(port.asked, []);
    await clock.advance(1000);
    assert.deepEqual(port.asked, [
      'users',
      'sessions of 10.1.1.2 in 1',
      'sessions of 10.1.1.3 in 1',
    ]);
    assert.deepEqual(port.sessions, busy);
    assert.deepEqual(await metrics(), {
      tcpNatSessions: 2,
      otherNatSessions: 2,
      deletedTCPNatSessions: 1,
      deletedOtherNatSessions: 1,
      natSessionDeleteErrors: 0,
    });
    const counted = await registry.getSingleMetricAsString(
      'contiv_nat_idle_sessions_removed_total',
    );
    assert.match(counted, /\{protocol="tcp"\} 1\n.*\{protocol="other"\} 1$/m);
    await component.close();
  });

  test('that cannot be removed are counted and tried again, the others are removed', async () => {
    port.sessions = [session(2, UDP, true, 81), session(2, UDP, true)];
    port.stuckPort = 81;
    await clock.advance(6 * MINUTE);
    assert.equal(port.sessions.length, 1);
    assert.equal((await metrics())['natSessionDeleteErrors'], 1);
    port.stuckPort = undefined;
    await clock.advance(6 * MINUTE);
    assert.equal(port.sessions.length, 0);
    await component.close();
  });

  test('are looked for again after VPP did not answer', async () => {
    port.failing = new Error('VPP is disconnected');
    await clock.advance(6 * MINUTE);
    port.failing = undefined;
    await clock.advance(6 * MINUTE);
    assert.deepEqual(port.asked, ['users', 'users']);
    await component.close();
  });

  test('are read with a pause after each request', async () => {
    port.sessions = [2, 3, 4].map((last) => session(last, TCP, false));
    const started: number[] = [];
    const slow = async (): Promise<void> => {
      started.push(clock.monotonic());
      await clock.sleep(10);
    };
    const [users, sessionsOf] = [port.users.bind(port), port.sessionsOf.bind(port)];
    port.users = () => slow().then(users);
    port.sessionsOf = (user) => slow().then(() => sessionsOf(user));
    await clock.advance(10 * MINUTE);
    const first = started.slice(0, 4);
    assert.deepEqual(
      first.slice(1).map((at, n) => at - (first[n] ?? 0)),
      [200, 200, 200],
    );
    const took = await registry.getSingleMetricAsString('contiv_nat_idle_session_removal_seconds');
    assert.match(took, / 0\.8$/m);
    await component.close();
  });

  test('are left alone after the end, also if it comes between two requests', async () => {
    port.sessions = [2, 3].map((last) => session(last, UDP, true));
    await clock.advance(5 * MINUTE);
    await component.close();
    assert.deepEqual(port.asked, ['users']);
    await clock.advance(60 * MINUTE);
    assert.deepEqual(port.asked, ['users']);
    assert.equal(port.sessions.length, 2);
  });
});
