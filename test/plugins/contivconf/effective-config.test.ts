import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseConfig } from '#infra/config/load.ts';
import { nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { effectiveOptions, resolveNode } from '#plugins/contivconf/api.ts';
import { contivConfigSchema, contivDefaults } from '#plugins/contivconf/config.ts';

function shown(yaml: string, rest: Partial<Parameters<typeof resolveNode>[0]> = {}) {
  const loaded = parseConfig(contivConfigSchema, yaml, 'contiv.conf');
  const node = resolveNode({
    file: loaded.value,
    nodeName: 'node-a',
    nodeConfig: undefined,
    nics: [],
    stolen: undefined,
    ...rest,
  });
  const rows = effectiveOptions(loaded.value, loaded, node);
  return new Map(rows.map(({ path, value, origin }) => [path, [value, origin]]));
}

describe('effective configuration', () => {
  it('has every key of the file, with its default where nothing is said', () => {
    const rows = shown('');
    for (const key of Object.keys(contivDefaults))
      assert.ok(
        key === 'nodeConfig' || [...rows.keys()].some((path) => path.split('.')[0] === key),
        key,
      );
    assert.deepEqual(rows.get('useTAPInterfaces'), [true, 'default']);
    assert.deepEqual(rows.get('ipamConfig.vxlanCIDR'), ['192.168.30.0/24', 'default']);
    assert.deepEqual(rows.get('ipamConfig.srv6.sfcEndLocalSIDSubnetCIDR'), [
      '9310::/16',
      'default',
    ]);
    assert.deepEqual(rows.get('thisNode.natExternalTraffic'), [true, 'default']);
  });

  it('says in which line a key is, however it is written', () => {
    const rows = shown('\nMTUSIZE: 1450\nipamconfig:\n  VXLANcidr: 10.9.0.0/24\n');
    assert.deepEqual(rows.get('mtuSize'), [1450, 'contiv.conf:2']);
    assert.deepEqual(rows.get('ipamConfig.vxlanCIDR'), ['10.9.0.0/24', 'contiv.conf:4']);
  });

  it('says for this node which source has won', () => {
    const yaml = `
natExternalTraffic: false
stealFirstNIC: true
ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24, defaultGateway: 9.9.9.9}
nodeConfig:
- nodeName: node-a
  natExternalTraffic: true
  mainVPPInterface: {ip: 10.0.0.1/24}
`;
    const nodeConfig = nodeConfigModel.canonical({
      node_name: 'node-a',
      main_vpp_interface: { interface_name: 'Gig7' },
    });
    const rows = shown(yaml, { nodeConfig, nics: ['Gig1'] });
    assert.deepEqual(rows.get('thisNode.mainVPPInterface.interfaceName'), [
      'Gig7',
      'NodeConfig resource',
    ]);
    assert.deepEqual(rows.get('thisNode.mainVPPInterface.ip'), ['10.0.0.1/24', 'contiv.conf:8']);
    assert.deepEqual(rows.get('thisNode.gateway'), ['9.9.9.9', 'contiv.conf:4']);
    assert.deepEqual(rows.get('thisNode.natExternalTraffic'), [true, 'contiv.conf:7']);
    assert.deepEqual(rows.get('thisNode.stealInterface'), ['the first NIC', 'contiv.conf:3']);
  });

  it('names what is found out', () => {
    const yaml = 'stealInterface: eth1';
    const stolen = {
      pciAddress: '0000:0b:00.0',
      kernelDriver: 'e1000',
      addresses: ['10.20.0.5/24'],
      routes: [{ destination: '', gateway: '10.20.0.1' }],
    };
    const rows = shown(yaml, { stolen, nics: ['Gig1'] });
    assert.match(String(rows.get('thisNode.mainVPPInterface.interfaceName')), /^Gig1,VPP: /);
    assert.match(String(rows.get('thisNode.mainVPPInterface.ip')), /^10.20.0.5\/24,STN daemon/);
    assert.match(String(rows.get('thisNode.gateway')), /^10.20.0.1,STN daemon/);
    const computed = shown('ipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}');
    assert.deepEqual(computed.get('thisNode.mainVPPInterface.ip'), [
      'from 192.168.16.0/24 by node ID',
      'contiv.conf:1',
    ]);
  });
});
