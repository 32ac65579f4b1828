/** The definition of NodeConfig at a kube-apiserver, and its status from the decision of a node. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { nodeConfigDigest, nodeConfigStatusModel } from '#kubernetes/models/node-config-status.ts';
import { withoutEtcdctl, withoutKubernetes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { Reflection } from '../support/reflection.ts';

const limits = { skip: withoutKubernetes() || withoutEtcdctl(), timeout: 240_000 };

function manifest(spec: object, name = 'node1'): string {
  const apiVersion = 'nodeconfig.contiv.vpp/v1';
  return JSON.stringify({ apiVersion, kind: 'NodeConfig', metadata: { name }, spec });
}

const valid: readonly object[] = [
  {},
  { mainVPPInterface: { interfaceName: 'GigabitEthernet0/8/0', ip: '192.168.16.1/24' } },
  { mainVPPInterface: { interfaceName: 'a', ip: '10.0.0.1/24, fd00::1/64' }, gateway: 'fd00::9' },
  { mainVPPInterface: { interfaceName: 'a', useDHCP: true }, natExternalTraffic: true },
  { otherVPPInterfaces: [{ interfaceName: 'a' }, { interfaceName: 'b', ip: '10.0.0.1/24' }] },
  { stealInterface: 'enp0s8', gateway: '192.168.16.100' },
  { mainVPPInterface: { interfaceName: 'a', ip: 'fd00::1/64', useDHCP: true }, gateway: 'fe80::1' },
  { gateway: '10.0.0.9, fd00::9' },
];

const invalid: readonly (readonly [object, RegExp])[] = [
  [{ mainVPPInterface: { interfaceName: 'a', ip: '10.0.0.1' } }, /mainVPPInterface\.ip/],
  [{ mainVPPInterface: { interfaceName: 'a', ip: 'x/24' } }, /mainVPPInterface\.ip/],
  [
    { mainVPPInterface: { interfaceName: 'a', ip: '10.0.0.1/24', useDHCP: true } },
    /useDHCP and an IPv4 address in ip exclude each other/,
  ],
  [{ mainVPPInterface: { ip: '10.0.0.1/24' } }, /interfaceName is missing/],
  [{ otherVPPInterfaces: [{ ip: '10.0.0.1/24' }] }, /interfaceName/],
  [{ otherVPPInterfaces: [{ interfaceName: 'a' }, { interfaceName: 'a' }] }, /Duplicate value/],
  [{ gateway: '10.0.0.1/24' }, /spec\.gateway/],
  [{ gateway: '10.0.0.1,10.0.0.2,10.0.0.3' }, /spec\.gateway/],
  [{ gatewey: '10.0.0.1' }, /unknown field "spec\.gatewey"/],
];

describe('NodeConfig at a kube-apiserver', limits, () => {
  let reflection: Reflection;
  before(async () => {
    reflection = await Reflection.start();
    await reflection.apiServer.installNodeConfigs();
  });
  after(() => reflection?.[Symbol.asyncDispose]());

  it('accepts what the original accepts, and rejects what no node can use', () => {
    const { apiServer } = reflection;
    for (const [at, spec] of valid.entries()) apiServer.apply(manifest(spec, `valid-${at}`));
    for (const [spec, reason] of invalid)
      assert.throws(() => apiServer.apply(manifest(spec, 'invalid')), reason);
  });

  it('shows the decision of the node, about its present content', async () => {
    const { apiServer } = reflection;
    const row = () => apiServer.kubectl('get', 'nodeconfigs', 'node1', '--no-headers');
    const decide = async (gateway: string, state: string, message: string) => {
      const record = nodeConfigModel.canonical({ node_name: 'node1', gateway });
      const decision = nodeConfigStatusModel.canonical({
        node_name: 'node1',
        state,
        message,
        node_config: nodeConfigDigest(record),
        since: '2026-01-01T00:00:00.000Z',
      });
      const text = JSON.stringify(nodeConfigStatusModel.toJson(decision));
      await reflection.write(nodeConfigStatusModel.key(decision), text);
    };
    apiServer.apply(manifest({ gateway: '10.0.0.1' }));
    await decide('10.0.0.1', 'Applied', '');
    // contiv-ksr looks for a kind that is missing again only after a while
    await until('it is applied', () => /Applied/.test(row()), 120_000);
    apiServer.apply(manifest({ gateway: '127.0.0.1' }));
    await decide('127.0.0.1', 'Refused', 'gateway: "127.0.0.1" is a loopback address');
    await until('it is refused', () => /Refused +gateway: "127/.test(row()), 30_000);
    const text = apiServer.kubectl('get', 'nodeconfigs', 'node1', '-o', 'json');
    const { metadata, status } = JSON.parse(text);
    assert.equal(status.observedGeneration, 2);
    assert.equal(metadata.generation, 2);
  });
});
