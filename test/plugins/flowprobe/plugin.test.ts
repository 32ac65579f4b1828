/** The memifs of external configuration whose flows VPP counts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FLOW_EXPORTER_KEY, type FlowExporter } from '#models/vpp/flow-exporter.ts';
import { flowProbeModel } from '#models/vpp/flow-probe.ts';
import { vppInterfaceModel } from '#models/vpp/interface.ts';
import {
  DATASTORE_SOURCE,
  DbResync,
  ExternalConfigChange,
} from '#plugins/controller/api/events.ts';
import { fakeVppWithNics } from '../ipv4net/vpp-with.ts';
import { startedNode } from '../ipv4net/wired-node.ts';
import { sorted, type TestNode, type TestNodeOptions } from '../test-node.ts';

const IPV6_ALONE = `
ipamConfig:
  podSubnetCIDR: fd01::/48
  vppHostSubnetCIDR: fd02::/48
  nodeInterconnectCIDR: fd03::/64
  vxlanCIDR: fd04::/64
  serviceCIDR: fd05::/108
`;

function memif(name: string, mode: 'ETHERNET' | 'IP' = 'ETHERNET') {
  const value = vppInterfaceModel.canonical({ name, type: 'MEMIF', memif: { id: 1, mode } });
  return [vppInterfaceModel.key(value), value] as const;
}
const loopback = vppInterfaceModel.canonical({ name: 'loop', type: 'SOFTWARE_LOOPBACK' });
const others = [[vppInterfaceModel.key(loopback), loopback], memif('routed', 'IP')] as const;

type Changes = readonly (readonly [key: string, value: object | null])[];

const change = (node: TestNode, changes: Changes) =>
  node.run(
    ExternalConfigChange.event({ source: DATASTORE_SOURCE, values: Object.fromEntries(changes) }),
  );

const started = (options: TestNodeOptions = {}) => startedNode({ recordsFlows: true, ...options });

const probed = (node: TestNode): string[] =>
  [...node.config.keys()].filter((key) => key.startsWith(flowProbeModel.keyPrefix)).sort();
const hasExporter = (node: TestNode): boolean => node.config.has(FLOW_EXPORTER_KEY);

describe('flows of memifs', () => {
  it('are counted from the first memif to the last one', async () => {
    const node = await started();
    await change(node, others);
    assert.deepEqual([probed(node), hasExporter(node)], [[], false]);
    await change(node, [memif('a'), memif('b')]);
    assert.deepEqual(
      probed(node),
      ['a', 'b'].map((name) => flowProbeModel.key({ interface: name })),
    );
    const { collector_address, source_address } = node.at<FlowExporter>(FLOW_EXPORTER_KEY);
    assert.deepEqual([collector_address, source_address], ['172.30.1.2', '172.30.1.1']);
    await change(node, [[memif('a')[0], null], memif('b', 'IP')]);
    assert.deepEqual([probed(node), hasExporter(node)], [[], false]);
    await change(node, [memif('b')]);
    assert.deepEqual([probed(node).length, hasExporter(node)], [1, true]);
  });

  it('have the same values after a resync', async () => {
    const node = await started();
    await change(node, [...others, memif('a'), memif('b')]);
    const before = sorted(node.config);
    await node.heal();
    assert.deepEqual(sorted(node.config), before);
    const restarted = node.restart();
    const externalConfig = Object.fromEntries([...others, memif('a'), memif('b')]);
    const kubeState: Record<string, Record<string, object>> = {};
    for (const { resource, key, value } of node.state()) {
      kubeState[resource] ??= {};
      kubeState[resource][key] = value;
    }
    await restarted.run(DbResync.event({ local: false, kubeState, externalConfig }));
    assert.deepEqual(probed(restarted), probed(node));
    assert.equal(hasExporter(restarted), true);
  });

  const vpp = fakeVppWithNics('Gig1', 'Gig2');
  vpp.flowProbe = false;
  for (const [title, options, reason] of [
    ['VPP has no plugin', { vpp }, /VPP has no flowprobe_plugin\.so/],
    ['the cluster is of IPv6 alone', { yaml: IPV6_ALONE }, /IPv4 address of the host/],
    [
      'the link to the host is in another VRF',
      { yaml: 'mainVRFID: 2\nipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}' },
      /mainVRFID is not 0/,
    ],
  ] as const)
    it(`are not counted if ${title}, which is reported with the first memif`, async () => {
      const node = await started(options);
      assert.equal(node.flowProbe.problem(), undefined);
      await change(node, [memif('a')]);
      assert.deepEqual([probed(node), hasExporter(node)], [[], false]);
      assert.match(node.flowProbe.problem() ?? '', reason);
      await change(node, [[memif('a')[0], null]]);
      assert.equal(node.flowProbe.problem(), undefined);
    });

  it('are not counted if no flows are recorded', async () => {
    const node = await started({ recordsFlows: false });
    await change(node, [memif('a')]);
    assert.deepEqual([probed(node), node.flowProbe.problem()], [[], undefined]);
  });
});
