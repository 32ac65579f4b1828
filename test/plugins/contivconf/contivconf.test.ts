import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import {
  firstHostNic,
  NodeConfigChange,
  podFamilies,
  resolveNode,
} from '#plugins/contivconf/api.ts';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import { FakeStn, FakeVpp } from '../fake-ports.ts';
import { contivConfig, type KubeValue, TestNode } from '../test-node.ts';

const nic = (swIfIndex: number, internalName: string, deviceType = 'dpdk') => ({
  swIfIndex,
  internalName,
  deviceType,
  tag: '',
  mtu: 9000,
});

function vppWith(...nics: ReturnType<typeof nic>[]): FakeVpp {
  const vpp = new FakeVpp();
  vpp.nics = nics;
  return vpp;
}

type NodeConfigInput = Parameters<typeof nodeConfigModel.canonical>[0];

function nodeConfig(name: string, input: NodeConfigInput): KubeValue {
  const value = nodeConfigModel.canonical({ node_name: name, ...input });
  return { resource: 'nodeconfig', key: resources.nodeconfig.key(name, ''), value };
}

const SECTION = `
crdNodeConfigurationDisabled: false
natExternalTraffic: false
ipamConfig:
  nodeInterconnectCIDR: 192.168.16.0/24
  defaultGateway: 192.168.16.254
nodeConfig:
- nodeName: node-a
  mainVPPInterface: {interfaceName: Gig1, ip: 10.0.0.1/24}
  otherVPPInterfaces: [{interfaceName: Gig2, ip: "10.2.0.1/24,10.3.0.1/24", useDHCP: true}]
  gateway: 10.0.0.254
`;

describe('configuration of a node', () => {
  it('selects the first DPDK interface that is not configured otherwise', async () => {
    const vpp = vppWith(nic(3, 'Gig3'), nic(1, 'Gig1'), nic(0, 'local0', 'Loopback'));
    const yaml = 'nodeConfig:\n- nodeName: node-a\n  otherVPPInterfaces: [{interfaceName: Gig1}]';
    const node = new TestNode({ vpp, yaml });
    await node.resync();
    assert.deepEqual(node.conf.mainInterface(), { name: 'Gig3', addresses: [], useDhcp: false });
    assert.deepEqual(node.conf.otherInterfaces(), [
      { name: 'Gig1', addresses: [], useDhcp: false },
    ]);
  });

  it('has no name for a main interface where there is no NIC', async () => {
    const node = new TestNode();
    await node.resync();
    assert.equal(node.conf.mainInterface().name, undefined);
  });

  it('decides option by option: resource, section, global part', async () => {
    const node = new TestNode({ yaml: SECTION });
    await node.resync([
      nodeConfig('node-a', { main_vpp_interface: { interface_name: 'GigX' } }),
      nodeConfig('node-b', { gateway: '1.1.1.1' }),
    ]);
    assert.deepEqual(node.conf.mainInterface(), {
      name: 'GigX',
      addresses: ['10.0.0.1/24'],
      useDhcp: false,
    });
    assert.deepEqual(node.conf.otherInterfaces(), [
      { name: 'Gig2', addresses: ['10.2.0.1/24', '10.3.0.1/24'], useDhcp: false },
    ]);
    assert.deepEqual(node.conf.defaultGateways(), ['10.0.0.254']);
    assert.equal(node.conf.natExternalTraffic(), false);

    await node.resync([nodeConfig('node-a', { gateway: '9.9.9.9', nat_external_traffic: true })]);
    assert.equal(node.conf.mainInterface().name, 'Gig1');
    assert.deepEqual(node.conf.defaultGateways(), ['9.9.9.9']);
    assert.equal(node.conf.natExternalTraffic(), true);

    await node.resync([]);
    assert.deepEqual(node.conf.defaultGateways(), ['10.0.0.254']);
  });

  it('falls back to the gateway for all nodes', async () => {
    const yaml = SECTION.replace('  gateway: 10.0.0.254\n', '');
    const node = new TestNode({ yaml });
    await node.resync();
    assert.deepEqual(node.conf.defaultGateways(), ['192.168.16.254']);
  });

  it('asks for DHCP only where no address is given, and leaves the way out to it', async () => {
    const dhcp = 'ipamConfig: {nodeInterconnectDHCP: true, defaultGateway: 1.1.1.1}';
    const vpp = vppWith(nic(1, 'Gig1'));
    const node = new TestNode({ vpp, yaml: dhcp });
    await node.resync();
    assert.equal(node.conf.mainInterface().useDhcp, true);
    assert.deepEqual(node.conf.defaultGateways(), []);
    const addressed = new TestNode({
      vpp,
      yaml: `${dhcp}\nnodeConfig: [{nodeName: node-a, mainVPPInterface: {ip: 10.0.0.1/24}}]`,
    });
    await addressed.resync();
    assert.equal(addressed.conf.mainInterface().useDhcp, false);
    assert.deepEqual(addressed.conf.defaultGateways(), ['1.1.1.1']);
  });

  it('ignores invalid values in the resource', async () => {
    const node = new TestNode({ yaml: SECTION });
    await node.resync([
      nodeConfig('node-a', {
        main_vpp_interface: { ip: '10.0.0.1' },
        other_vpp_interfaces: [{ ip: '1.1.1.1/8' }, { interface_name: 'Gig9', ip: 'x' }],
        gateway: 'gw',
      }),
    ]);
    assert.deepEqual(node.conf.mainInterface().addresses, ['10.0.0.1/24']);
    assert.deepEqual(node.conf.defaultGateways(), ['10.0.0.254']);
    assert.deepEqual(
      node.conf.otherInterfaces().map(({ name, addresses }) => [name, addresses]),
      [['Gig9', []]],
    );
  });

  it('has each interface once: the main one is no other, and the first entry of a name counts', async () => {
    const node = new TestNode({ yaml: SECTION });
    await node.resync([
      nodeConfig('node-a', {
        main_vpp_interface: { interface_name: 'Gig1', ip: '10.0.0.1/24' },
        other_vpp_interfaces: [
          { interface_name: 'Gig1', ip: '1.1.1.1/8' },
          { interface_name: 'Gig9', ip: '2.2.2.2/8' },
          { interface_name: 'Gig9', use_dhcp: true },
        ],
      }),
    ]);
    assert.deepEqual(node.conf.otherInterfaces(), [
      { name: 'Gig9', addresses: ['2.2.2.2/8'], useDhcp: false },
    ]);
    assert.deepEqual(node.at('config/vpp/v2/interfaces/Gig1')['ip_addresses'], ['10.0.0.1/24']);
  });

  it('does not look at the resource where the file says so', async () => {
    const yaml = SECTION.replace('crdNodeConfigurationDisabled: false', '');
    const node = new TestNode({ yaml });
    const { followUps } = await node.put(nodeConfig('node-a', { gateway: '9.9.9.9' }));
    assert.deepEqual(followUps, []);
    await node.resync();
    assert.deepEqual(node.conf.defaultGateways(), ['10.0.0.254']);
  });

  it('recalculates everything when the resource of this node changes something', async () => {
    const node = new TestNode({ yaml: SECTION });
    await node.resync();
    const change = nodeConfig('node-a', { gateway: '9.9.9.9' });
    const { followUps } = await node.put(change);
    assert.deepEqual(
      followUps.map(({ kind }) => kind.id),
      [NodeConfigChange.id],
    );
    assert.deepEqual(node.conf.defaultGateways(), ['9.9.9.9']);
    assert.equal(
      node.at('config/vpp/v2/route/if/Gig1/vrf/0/dst/0.0.0.0/0/gw/9.9.9.9') !== null,
      true,
    );
    assert.deepEqual((await node.put(change)).followUps, []);
    assert.deepEqual((await node.put(nodeConfig('node-b', { gateway: '8.8.8.8' }))).followUps, []);
    assert.equal((await node.remove(change)).followUps.length, 1);
    assert.deepEqual(node.conf.defaultGateways(), ['10.0.0.254']);
  });

  it('aborts until it has read the NICs, and does not read them again', async () => {
    const vpp = vppWith(nic(1, 'Gig1'));
    vpp.failing = new Error('no VPP');
    const node = new TestNode({ vpp });
    assert.ok((await node.resync()).error instanceof AbortEventError);
    assert.ok((await node.heal()).error instanceof AbortEventError);
    vpp.failing = undefined;
    await node.heal();
    assert.equal(node.conf.mainInterface().name, 'Gig1');
    vpp.nics = [nic(1, 'Gig7')];
    await node.heal();
    assert.equal(node.conf.mainInterface().name, 'Gig1');
  });

  it('takes a NIC that VPP has got since, where there was none', async () => {
    const vpp = vppWith();
    const node = new TestNode({ vpp });
    await node.resync();
    vpp.failing = new Error('no VPP');
    assert.equal((await node.heal()).error, undefined);
    vpp.failing = undefined;
    vpp.nics = [nic(1, 'Gig1')];
    await node.heal();
    assert.equal(node.conf.mainInterface().name, 'Gig1');
  });

  it('knows the families of the pods from their subnets, the primary one first', () => {
    const families = (yaml: string) => podFamilies(contivConfig(yaml));
    assert.deepEqual(families(''), [4]);
    assert.deepEqual(families('ipamConfig: {podSubnetCIDR: "fd00::/48"}'), [6]);
    assert.deepEqual(families('ipamConfig: {podSubnetCIDR: "fd00::/48, 10.1.0.0/16"}'), [6, 4]);
    assert.deepEqual(
      families('ipamConfig: {podSubnetCIDR: "fd00::/48", contivCIDR: 10.0.0.0/8}'),
      [4],
    );
    assert.deepEqual(families('ipamConfig: {contivCIDR: "10.0.0.0/8,fd00::/48"}'), [4, 6]);
  });
});

describe('default gateways', () => {
  it('are those of the first source in each family', async () => {
    const yaml = `
crdNodeConfigurationDisabled: false
ipamConfig: {defaultGateway: "fe80::9, 10.0.0.9"}
nodeConfig: [{nodeName: node-a, gateway: fd00::8}]
`;
    const node = new TestNode({ yaml, vpp: vppWith(nic(0, 'Gig1')) });
    await node.resync();
    assert.deepEqual(node.conf.defaultGateways(), ['10.0.0.9', 'fd00::8']);
    await node.resync([nodeConfig('node-a', { gateway: '10.0.0.7' })]);
    assert.deepEqual(node.conf.defaultGateways(), ['10.0.0.7', 'fd00::8']);
    await node.resync([nodeConfig('node-a', { gateway: '10.0.0.7,fd00::7' })]);
    assert.deepEqual(node.conf.defaultGateways(), ['10.0.0.7', 'fd00::7']);
    await node.resync([nodeConfig('node-a', { gateway: '10.0.0.6,10.0.0.5' })]);
    assert.deepEqual(node.conf.defaultGateways(), ['10.0.0.7', 'fd00::7']);
    const [refused] = node.conf.nodeConfigVerdict()!.refused;
    assert.equal(refused?.field, 'gateway');
    assert.match(refused.reason, /"10.0.0.5" is a second gateway of IPv4 beside 10.0.0.6/);
  });

  it('leave that of IPv4 to the lease with DHCP, beside which an address of IPv6 may be configured', async () => {
    const dual =
      'podSubnetCIDR: "fd01::/48,10.1.0.0/16", vppHostSubnetCIDR: "fd02::/48,172.30.0.0/16"';
    const more = 'vxlanCIDR: "fd04::/64,192.168.30.0/24", serviceCIDR: "fd05::/108,10.96.0.0/12"';
    const ofNode = async (ip: string, ipam: string) => {
      const yaml = `
ipamConfig: {${ipam}nodeInterconnectDHCP: true, defaultGateway: "fe80::9,10.0.0.9"}
nodeConfig: [{nodeName: node-a, mainVPPInterface: {ip: "${ip}"}}]
`;
      const node = new TestNode({ yaml, vpp: vppWith(nic(0, 'Gig1')) });
      assert.equal((await node.resync()).error, undefined);
      const { addresses, useDhcp } = node.conf.mainInterface();
      return { addresses, useDhcp, gateways: node.conf.defaultGateways() };
    };
    assert.deepEqual(await ofNode('fd16::7/64', `${dual}, ${more}, `), {
      addresses: ['fd16::7/64'],
      useDhcp: true,
      gateways: ['fe80::9'],
    });
    // an address of IPv4, or any one where pods have one family, takes precedence over DHCP
    for (const [ip, ipam] of [
      ['fd16::7/64,10.0.0.7/24', `${dual}, ${more}, `],
      ['fd16::7/64', ''],
    ] as const)
      assert.equal((await ofNode(ip, ipam)).useDhcp, false, ip);
  });
});

describe('a NIC that VPP took over from the host', () => {
  const stolen = {
    pciAddress: '0000:0b:00.0',
    kernelDriver: 'e1000',
    addresses: ['fe80::1/64', 'fd00::5/64', '10.20.0.5/24'],
    routes: [
      { destination: '10.20.0.0/24', gateway: '' },
      { destination: '10.99.0.0/16', gateway: '10.20.0.9' },
      { destination: '', gateway: '10.20.0.1' },
      { destination: '::/0', gateway: 'fd00::1' },
    ],
  };

  async function taken(yaml: string, name: string, is = stolen) {
    const stn = new FakeStn();
    stn.stolen.set(name, is);
    const node = new TestNode({ vpp: vppWith(nic(0, 'Gig1')), stn, yaml });
    const { error } = await node.resync();
    return { node, stn, error };
  }

  it('gives the node its addresses, gateway and routes', async () => {
    const { node } = await taken('stealInterface: eth1\nstnVersion: 2', 'eth1');
    assert.deepEqual(node.conf.mainInterface(), {
      name: 'Gig1',
      addresses: ['10.20.0.5/24'],
      useDhcp: false,
    });
    assert.deepEqual(node.conf.defaultGateways(), ['10.20.0.1']);
    assert.deepEqual(node.conf.stn(), {
      interfaceName: 'eth1',
      version: 2,
      routes: [
        { destination: '10.99.0.0/16', gateway: '10.20.0.9' },
        { destination: '0.0.0.0/0', gateway: '10.20.0.1' },
      ],
    });
  });

  it('gives those of the family of the pods', async () => {
    const yaml = `
stealInterface: eth1
ipamConfig: {podSubnetCIDR: "fd01::/48", podSubnetOneNodePrefixLen: 64, vppHostSubnetCIDR: "fd02::/48",
  vppHostSubnetOneNodePrefixLen: 64, vxlanCIDR: "fd04::/64", serviceCIDR: "fd05::/108"}
`;
    const { node } = await taken(yaml, 'eth1');
    assert.deepEqual(node.conf.mainInterface().addresses, ['fd00::5/64']);
    assert.deepEqual(node.conf.defaultGateways(), ['fd00::1']);
    assert.equal(node.conf.stn()!.version, 1);
  });

  it('is the one that resource, section, global part name, or the first, in this order', async () => {
    const yaml = `
crdNodeConfigurationDisabled: false
stealFirstNIC: true
stealInterface: eth2
nodeConfig: [{nodeName: node-a, stealInterface: eth3}]
`;
    const { node, stn } = await taken(yaml, 'eth3');
    assert.deepEqual(stn.asked, ['eth3']);
    await node.resync();
    assert.deepEqual(stn.asked, ['eth3']);
    stn.stolen.set('eth4', { ...stolen, addresses: ['10.30.0.5/24'] });
    await node.put(nodeConfig('node-a', { steal_interface: 'eth4' }));
    assert.deepEqual(stn.asked, ['eth3', 'eth4']);
    assert.deepEqual(node.conf.mainInterface().addresses, ['10.30.0.5/24']);
    assert.deepEqual((await taken('stealFirstNIC: true', '')).stn.asked, ['']);
    assert.equal(new TestNode().conf.stn(), undefined);
  });

  it('leaves addresses to DHCP where the file asks for it', async () => {
    const yaml = 'stealInterface: eth1\nipamConfig: {nodeInterconnectDHCP: true}';
    const { node } = await taken(yaml, 'eth1');
    assert.deepEqual(node.conf.mainInterface(), { name: 'Gig1', addresses: [], useDhcp: true });
    assert.deepEqual(node.conf.defaultGateways(), []);
  });

  it('uses an address of its network as the gateway if there is none', async () => {
    const cases = [
      ['10.20.0.5/24', '10.20.0.1'],
      ['10.20.0.1/24', '10.20.0.254'],
      ['10.20.0.4/31', '10.20.0.5'],
      ['10.20.0.5/31', '10.20.0.4'],
      ['10.20.0.5/32', ''],
    ];
    for (const [address = '', gateway] of cases) {
      const is = { ...stolen, addresses: [address], routes: [] };
      const { node } = await taken('stealInterface: eth1', 'eth1', is);
      assert.deepEqual(node.conf.defaultGateways(), gateway === '' ? [] : [gateway], address);
    }
  });

  it('is warned of when the host had what it does not have with VPP', () => {
    const warnings = (addresses: string[], routes: typeof stolen.routes) =>
      resolveNode({
        file: contivConfig('stealInterface: eth1'),
        nodeName: 'node-a',
        nodeConfig: undefined,
        nics: ['Gig1'],
        stolen: { ...stolen, addresses, routes },
      }).problems.map(({ text }) => text);
    assert.deepEqual(warnings(['10.20.0.5/24', 'fd00::5/64'], stolen.routes), []);
    assert.deepEqual(warnings(['10.20.0.5/24', '10.20.0.6/24'], stolen.routes), [
      'the NIC that VPP took over: the host had 10.20.0.6/24 on it, too; VPP has taken over all addresses, and the host is reached only at 10.20.0.5/24',
    ]);
    assert.deepEqual(warnings(['10.20.0.5/32'], stolen.routes), []);
    assert.deepEqual(warnings(['10.20.0.5/32'], []), [
      'the NIC that VPP took over: the host had no network and no route on it, only 10.20.0.5/32; VPP and the host reach no other node',
    ]);
    const route = { destination: '10.30.0.0/16', gateway: '10.20.0.1' };
    assert.deepEqual(warnings(['10.20.0.5/32'], [route]), []);
    const oneWarning = warnings(['10.20.0.5/32', '10.20.1.6/24'], []);
    assert.equal(oneWarning.length, 1);
    assert.match(oneWarning[0] ?? '', /the host had 10\.20\.1\.6\/24 on it, too/);
  });

  it('stops everything as long as the daemon does not tell', async () => {
    const { node, stn, error } = await taken('stealInterface: eth1', 'eth9');
    assert.ok(error instanceof AbortEventError);
    assert.equal(node.config.size, 0);
    stn.stolen.set('eth1', stolen);
    assert.equal((await node.resync()).error, undefined);
  });

  it('before it is taken is the first that is no virtual link', () => {
    assert.equal(firstHostNic(['lo', 'docker0', 'virbr0', 'ens3', 'ens4']), 'ens3');
    assert.equal(firstHostNic(['lo']), undefined);
  });
});
