import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { silentLogger } from '#infra/log/log.ts';
import { FakeStatistics } from '#test/vpp/telemetry/fake-statistics.ts';
import { VppMetrics } from '#vpp/stats/metrics.ts';
import { splitErrorName } from '#vpp/stats/statistics.ts';

const ACL_NODE = 'acl-plugin-in-ip4-fa';

describe('the metrics of VPP', () => {
  const statistics = new FakeStatistics();
  const registry = new Registry();
  let aclFailure: Error | undefined;
  let warnings = 0;
  const metrics = new VppMetrics({
    statistics,
    aclTable: {
      async read(made) {
        if (aclFailure) throw aclFailure;
        return { atMost: made, limit: 500_000 };
      },
    },
    registry,
    agent: 'node1',
    log: { ...silentLogger, warn: () => void warnings++ },
  });
  Object.assign(statistics.found, {
    nodeErrors: [
      { node: ACL_NODE, reason: 'ACL deny packets', count: 7n },
      { node: ACL_NODE, reason: 'new sessions added', count: 30n },
      { node: ACL_NODE, reason: 'too many sessions to add new', count: 2n },
    ],
    natPackets: [
      { direction: 'in2out', path: 'fast', kind: 'tcp', count: 5n },
      { direction: 'out2in', path: 'slow', kind: 'drops', count: 3n },
    ],
    natSessions: { sessions: [80, 10], limit: 100 },
  });
  const lines = async () => {
    await metrics.refresh();
    return (await registry.metrics()).split('\n');
  };

  it('count packets of ACLs and of NAT44', async () => {
    const shown = await lines();
    for (const line of [
      'vpp_stats_up{agent="node1"} 1',
      'contiv_vpp_acl_packets_total{direction="in",family="4",verdict="denied"} 7',
      'contiv_vpp_acl_packets_total{direction="out",family="6",verdict="new_session"} 0',
      'contiv_vpp_acl_sessions{agent="node1"} 30',
      'contiv_vpp_acl_sessions_limit{agent="node1"} 500000',
      'contiv_vpp_acl_refused_sessions_total{direction="in",family="4"} 2',
      `contiv_vpp_errors_total{node="${ACL_NODE}",reason="ACL deny packets"} 7`,
      'contiv_vpp_nat_packets_total{direction="in2out",path="fast",protocol="tcp"} 5',
      'contiv_vpp_nat_dropped_packets_total{direction="out2in",path="slow"} 3',
      'vpp_nat44_sessions{agent="node1",thread="1"} 10',
      'vpp_nat44_sessions_nearly_full{agent="node1"} 1',
    ])
      assert.ok(shown.includes(line), line);
  });

  it('have no values while VPP cannot be read, and do not add up over reads', async () => {
    statistics.failure = new Error('no segment');
    const shown = await lines();
    assert.deepEqual(
      shown.filter((line) => /^(vpp|contiv)_/.test(line)),
      ['vpp_stats_up{agent="node1"} 0'],
    );
    statistics.failure = undefined;
    await lines();
    assert.ok(
      (await lines()).includes(
        'contiv_vpp_nat_dropped_packets_total{direction="out2in",path="slow"} 3',
      ),
    );
  });

  it('have all but the ACL sessions while the API of VPP does not answer, with one warning', async () => {
    aclFailure = new Error('not connected');
    warnings = 0;
    await lines();
    const shown = await lines();
    aclFailure = undefined;
    assert.ok(shown.includes('vpp_stats_up{agent="node1"} 1'));
    assert.ok(shown.includes('vpp_nat44_sessions{agent="node1",thread="1"} 10'));
    assert.deepEqual(
      shown.filter((line) => line.startsWith('contiv_vpp_acl_sessions')),
      [],
    );
    assert.equal(warnings, 1);
    assert.ok((await lines()).includes('contiv_vpp_acl_sessions{agent="node1"} 30'));
  });
});

describe('the name of an error counter', () => {
  it('is split after the graph node, whose name may have slashes', () => {
    for (const [name, node, reason] of [
      ['ip4-input/ip4 ttl <= 1', 'ip4-input', 'ip4 ttl <= 1'],
      ['snap-input/unknown oui/snap protocol', 'snap-input', 'unknown oui/snap protocol'],
      ['ip6-add-hop-by-hop/Pkts w/ added options', 'ip6-add-hop-by-hop', 'Pkts w/ added options'],
      ['memif1/0-output/interface is down', 'memif1/0-output', 'interface is down'],
      ['GigabitEthernet0/8/0-tx/no free/tx slots', 'GigabitEthernet0/8/0-tx', 'no free/tx slots'],
      ['GigabitEthernet0/8/0.10-output/x', 'GigabitEthernet0/8/0.10-output', 'x'],
      ['alone', 'alone', ''],
    ] as const)
      assert.deepEqual(splitErrorName(name), { node, reason });
  });
});
