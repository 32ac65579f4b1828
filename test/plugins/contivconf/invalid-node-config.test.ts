/** An invalid NodeConfig, an interface that does not exist, and a NIC that cannot be taken over. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineError } from '#infra/errors/errors.ts';
import { nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { FakeStn } from '../fake-ports.ts';
import { fakeVppWithNics } from '../ipv4net/vpp-with.ts';
import { type KubeValue, TestNode } from '../test-node.ts';

const YAML =
  'crdNodeConfigurationDisabled: false\nipamConfig: {nodeInterconnectCIDR: 192.168.16.0/24}';
type Input = Parameters<typeof nodeConfigModel.canonical>[0];

function nodeConfig(input: Input): KubeValue {
  const value = nodeConfigModel.canonical({ node_name: 'node-a', ...input });
  return { resource: 'nodeconfig', key: resources.nodeconfig.key('node-a', ''), value };
}

const good = nodeConfig({
  main_vpp_interface: { interface_name: 'Gig1', ip: '10.0.0.1/24' },
  gateway: '10.0.0.254',
});

const RefusedError = defineError({
  name: 'RefusedError',
  code: 'CV_TEST_REFUSED',
  rejects: 'configuration',
  remedy: '',
});

class RefusingStn extends FakeStn {
  override async stolenInterface(name: string) {
    const found = this.stolen.get(name);
    if (!found) throw new RefusedError(`${name} was not taken`);
    return found;
  }
}

const invalid: readonly (readonly [Input, RegExp])[] = [
  [{ main_vpp_interface: { interface_name: 'Gig1', ip: 'not-an-ip' } }, /main_vpp_interface\.ip/],
  [{ main_vpp_interface: { interface_name: 'Gig1', ip: '0.0.0.0/0' } }, /main_vpp_interface\.ip/],
  [{ main_vpp_interface: { interface_name: 'Gig1', ip: '224.0.0.1/4' } }, /multicast/],
  [{ main_vpp_interface: { interface_name: 'Gig1', ip: '::1/128' } }, /loopback/],
  [{ main_vpp_interface: { interface_name: 'Gig9', ip: '10.0.0.1/24' } }, /"Gig9" does not exist/],
  [{ main_vpp_interface: { interface_name: 'host-eth9' } }, /"host-eth9" does not exist/],
  [{ gateway: 'x' }, /gateway: "x" is not a valid address/],
  [{ other_vpp_interfaces: [{ interface_name: 'Gig2', ip: '10.2.0.1' }] }, /other_vpp_interfaces/],
  [{ other_vpp_interfaces: [{ interface_name: '', ip: '10.2.0.1/24' }] }, /without a name/],
  [{ steal_interface: 'eth9' }, /VPP cannot take over NIC "eth9"/],
];

const problemsOf = (node: TestNode) => (node.conf.problems?.() ?? []).map(({ message }) => message);

describe('an invalid NodeConfig', () => {
  for (const stn of [new FakeStn(), new RefusingStn()])
    for (const [input, reason] of invalid)
      it(`leaves a running node as it is, also over a restart, and names the field: ${reason}`, async () => {
        const vpp = fakeVppWithNics('Gig1', 'Gig2');
        const node = new TestNode({ yaml: YAML, vpp, stn });
        await node.resync([good]);
        assert.deepEqual(problemsOf(node), []);
        const before = new Map(node.config);
        const bad = nodeConfig(input);
        assert.equal((await node.put(bad)).error, undefined);
        assert.deepEqual(node.config, before);
        assert.match(problemsOf(node).join(), reason);
        assert.ok(problemsOf(node).join().includes(bad.key));

        const restarted = node.restart();
        assert.equal((await restarted.resync([bad])).error, undefined);
        assert.deepEqual(restarted.config, before);
        assert.match(problemsOf(restarted).join(), reason);
        assert.equal((await restarted.put(good)).error, undefined);
        assert.deepEqual(problemsOf(restarted), []);
        assert.deepEqual(restarted.config, before);
      });

  it('keeps a node without a NodeConfig as it is', async () => {
    const node = new TestNode({ yaml: YAML, vpp: fakeVppWithNics('Gig1', 'Gig2') });
    await node.resync([]);
    const before = new Map(node.config);
    const bad = nodeConfig({ main_vpp_interface: { interface_name: 'Gig2', ip: 'x' } });
    await node.put(bad);
    assert.deepEqual(node.config, before);
    const restarted = node.restart();
    await restarted.resync([bad]);
    assert.deepEqual(restarted.config, before);
    await restarted.remove(bad);
    assert.deepEqual(problemsOf(restarted), []);
  });

  it('is used as far as it is valid by a node that had none', async () => {
    const node = new TestNode({ yaml: YAML, vpp: fakeVppWithNics('Gig1', 'Gig2') });
    const bad = nodeConfig({ main_vpp_interface: { interface_name: 'Gig2', ip: 'x' } });
    assert.equal((await node.resync([bad])).error, undefined);
    assert.equal(node.conf.mainInterface().name, 'Gig2');
    assert.match(problemsOf(node).join(), /main_vpp_interface\.ip: "x"/);
  });
});

describe('an interface that does not exist yet', () => {
  it('is used when it appears, at the next resync', async () => {
    const vpp = fakeVppWithNics('Gig1');
    const node = new TestNode({ yaml: YAML, vpp });
    await node.resync([good]);
    const later = nodeConfig({ main_vpp_interface: { interface_name: 'Gig2' } });
    await node.put(later);
    assert.equal(node.conf.mainInterface().name, 'Gig1');
    vpp.nics = fakeVppWithNics('Gig1', 'Gig2').nics;
    await node.heal();
    assert.equal(node.conf.mainInterface().name, 'Gig2');
    assert.deepEqual(problemsOf(node), []);
  });

  it('of the file is reported; the rest of the node is configured', async () => {
    const section = 'nodeConfig: [{nodeName: node-a, mainVPPInterface: {interfaceName: Gig9}}]';
    const node = new TestNode({ yaml: `${YAML}\n${section}`, vpp: fakeVppWithNics('Gig1') });
    assert.equal((await node.resync([])).error, undefined);
    assert.match(problemsOf(node).join(), /contiv\.conf: interface "Gig9" does not exist/);
    assert.equal((await node.add('web', 'c1')).error, undefined);
  });
});

describe('a NIC of the file that the STN daemon does not know', () => {
  it('stays with the host, and pods are attached', async () => {
    const stn = new RefusingStn();
    const node = new TestNode({ yaml: `${YAML}\nstealInterface: eth9`, stn });
    assert.equal((await node.resync([])).error, undefined);
    assert.match(problemsOf(node).join(), /contiv\.conf: VPP cannot take over NIC "eth9"/);
    assert.equal((await node.add('web', 'c1')).error, undefined);
    stn.stolen.set('eth9', {
      pciAddress: '0000:0b:00.0',
      kernelDriver: '',
      addresses: ['10.20.0.5/24'],
      routes: [],
    });
    assert.equal((await node.heal()).error, undefined);
    assert.deepEqual(problemsOf(node), []);
    assert.deepEqual(node.conf.mainInterface().addresses, ['10.20.0.5/24']);
    // the daemon does not answer after a restart of the agent: its stored answer is used
    const restarted = node.restart({ stn: new FakeStn() });
    assert.equal((await restarted.resync([])).error, undefined);
    assert.deepEqual(restarted.conf.mainInterface().addresses, ['10.20.0.5/24']);
  });
});
