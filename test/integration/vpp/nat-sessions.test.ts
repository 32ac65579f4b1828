/** Sessions of NAT44 in a real VPP: UDP packets of a generator go to a service with two backends. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Registry } from 'prom-client';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { NatSession } from '#plugins/controller/api/ports/nat-sessions.ts';
import { IdleSessions } from '#plugins/service/nat-sessions/idle-sessions.ts';
import { NatSessionMetrics } from '#plugins/service/nat-sessions/metrics.ts';
import { statsCollector } from '#test/plugins/fake-ports.ts';
import { declareUnless, withoutIsolatedVpp } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { bytesOfAddress } from '#vpp/binapi/addresses.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import type { BinapiClient } from '#vpp/binapi/client/client.ts';
import { natSessionPort } from '#vpp/nat-session-port.ts';
import { VppMetrics } from '#vpp/stats/metrics.ts';
import { SegmentStatistics } from '#vpp/stats/statistics.ts';
import { VppProcess } from '../support/vpp-process.ts';

const UDP = 17;
const TABLE = 1;
const LIMIT = 1024;
const service = { external_addr: bytesOfAddress('10.96.0.1'), external_port: 80, protocol: UDP };
const backends = ['10.1.1.2', '10.1.1.3'] as const;

/** Client side in `loop0`, backends behind `loop1`. */
const setup = [
  'ip table add 1',
  'loopback create',
  'loopback create',
  'set interface state loop0 up',
  'set interface state loop1 up',
  'set interface ip table loop0 1',
  'set interface ip table loop1 1',
  'set interface ip address loop0 10.0.0.1/16',
  'set interface ip address loop1 10.1.1.1/24',
  ...backends.map((address, n) => `set ip neighbor loop1 ${address} 02:00:00:00:00:0${n + 2}`),
  'set interface nat44 in loop1 out loop0',
];

function local(address: string, probability: number) {
  return { addr: bytesOfAddress(address), port: 8080, probability, vrf_id: TABLE };
}

async function configure(client: VppClient): Promise<void> {
  await client.request('nat44_add_del_lb_static_mapping', {
    ...service,
    is_add: true,
    // twice-NAT of a backend that reaches itself, which these clients are not
    flags: 6,
    affinity: 0,
    tag: 's',
    locals: [local('0.0.0.0', 0), ...backends.map((address) => local(address, 2))],
  });
}

await declareUnless(withoutIsolatedVpp(), 'NAT sessions of a real VPP', () => {
  const vpp = new VppProcess({ prefix: ['unshare', '--net'] });
  let client: BinapiClient;
  let statistics: SegmentStatistics;

  before(async () => {
    await vpp.start();
    client = await vpp.client();
    statistics = new SegmentStatistics(
      { pid: async () => (await client.request('control_ping', {})).vpe_pid },
      systemClock,
    );
    await client.request('nat44_ed_plugin_enable_disable', {
      inside_vrf: 0,
      outside_vrf: 0,
      sessions: LIMIT,
      session_memory: 0,
      enable: true,
      flags: 1,
    });
    for (const command of setup) await vpp.cli(command);
    await configure(client);
  });
  after(async () => {
    statistics?.close();
    await client?.close();
    await vpp.remove();
  });

  /** Of all threads. */
  const total = async (): Promise<number> =>
    (await statistics.natSessions()).sessions.reduce((a, b) => a + b, 0);

  /** One packet from each of so many ports. */
  async function send(count: number): Promise<void> {
    await vpp.cli(
      `packet-generator new { name s limit ${count} node ip4-input size 64-64 interface loop0 data ` +
        `{ UDP: 10.0.0.2 -> 10.96.0.1 UDP: 1024 - ${1023 + count} -> 80 incrementing 8 } }`,
    );
    await vpp.cli('packet-generator enable-stream s');
    await until('the packets have sessions', async () => (await total()) >= count);
    await vpp.cli('packet-generator delete s');
  }

  async function all(): Promise<readonly NatSession[]> {
    const port = natSessionPort(client);
    const found: NatSession[] = [];
    for (const user of await port.users()) found.push(...(await port.sessionsOf(user)));
    return found;
  }

  const change = (address: string, is_add: boolean) =>
    client.request('nat44_lb_static_mapping_add_del_local', {
      ...service,
      is_add,
      local: local(address, 2),
    });

  test('are listed, counted and deleted', async () => {
    await send(100);
    const sessions = await all();
    assert.equal(sessions.length, 100);
    const [first] = sessions;
    assert.deepEqual(
      { ...first!, inside: first!.inside.port, outside: first!.outside.address },
      { protocol: UDP, table: TABLE, inside: 8080, outside: '10.0.0.2', isExpired: false },
    );
    assert.deepEqual(
      sessions.map(({ outside }) => outside.port).sort((a, b) => a - b),
      Array.from({ length: 100 }, (_, n) => 1024 + n),
    );
    const port = natSessionPort(client);
    assert.equal(await port.delete(first!), true);
    assert.equal(await port.delete(first!), false);
    assert.equal(await total(), 99);
    assert.equal((await statistics.natSessions()).limit, LIMIT);
  });

  test('of a removed backend end with it, also those of UDP, and only those', async () => {
    await send(100);
    await change(backends[0], false);
    const left = await all();
    assert.ok(left.length > 30, `${left.length} left`);
    assert.deepEqual([...new Set(left.map(({ inside }) => inside.address))], [backends[1]]);
    await change(backends[0], true);
    assert.equal((await all()).length, left.length);
  });

  test('that are idle stay until they are removed', async () => {
    await send(100);
    const timeouts = { udp: 1, tcp_established: 1, tcp_transitory: 1, icmp: 1 };
    await client.request('nat_set_timeouts', timeouts);
    await systemClock.sleep(2500);
    const before = await total();
    assert.ok(before >= 100, `${before}`);
    const stats = statsCollector();
    const idle = new IdleSessions({
      port: natSessionPort(client),
      intervalMs: 100,
      metrics: new NatSessionMetrics(new Registry(), stats),
      clock: systemClock,
      log: silentLogger,
    });
    idle.init();
    await until('idle sessions are removed', async () => (await total()) === 0);
    await idle.close();
    assert.match(
      await stats.registry.metrics(),
      new RegExp(`deletedOtherNatSessions{.*} ${before}`),
    );
  });

  test('are reported before their table is full', async () => {
    const registry = new Registry();
    const metrics = new VppMetrics({
      statistics,
      aclTable: { read: async () => undefined },
      registry,
      agent: 'node1',
      log: silentLogger,
    });
    const isNearlyFull = async (): Promise<boolean> => {
      await metrics.refresh();
      return /^vpp_nat44_sessions_nearly_full\{agent="node1"\} 1$/m.test(await registry.metrics());
    };
    await client.request('nat_set_timeouts', {
      udp: 300,
      tcp_established: 300,
      tcp_transitory: 300,
      icmp: 300,
    });
    await send(Math.ceil(0.8 * LIMIT) - 1);
    assert.equal(await isNearlyFull(), false);
    await send(Math.ceil(0.8 * LIMIT));
    assert.equal(await isNearlyFull(), true);
  });
});
