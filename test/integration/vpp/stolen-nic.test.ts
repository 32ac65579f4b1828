/**
 * A node of one NIC, through which it reaches etcd: VPP takes the NIC over when contiv-init starts, and etcd is
 * out of reach of the host until VPP is configured. The STN daemon is a fake one, which removes the addresses
 * of the NIC as a missing link would; VPP uses the link by AF_PACKET.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { FakeStnDaemon } from '#test/stn/fake-daemon.ts';
import { withoutNodes, withoutProgram } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { type Containers, ContivInit } from '../support/contiv-init.ts';
import { RealEtcd } from '../support/etcd.ts';
import { Netns } from '../support/netns.ts';
import { RealNode } from '../support/node.ts';
import { podsInHistory } from '../support/pods-in-history.ts';

const NIC = 'eth0';
const ETCD_ADDRESS = '192.0.2.1';
const nodeConfigKey = REFLECTOR_PREFIX + resources.nodeconfig.key('node1', '');
/** To the default gateway, which may be outside of the network of the NIC. */
const linkRoute = [ETCD_ADDRESS, 'dev', NIC, 'scope', 'link'];

const nodeConfig = {
  node_name: 'node1',
  steal_interface: NIC,
  main_vpp_interface: { interface_name: `host-${NIC}` },
};

function stolen(address: string) {
  return {
    pci_address: '0000:0b:00.0',
    kernel_driver: 'e1000e',
    ip_addresses: [address],
    routes: [
      { destination_subnet: '', next_hop_ip: ETCD_ADDRESS },
      { destination_subnet: `${ETCD_ADDRESS}/32`, next_hop_ip: '' },
    ],
  };
}

/** The node, the machine of etcd, and the daemon, which is on the node. */
class StnNode {
  readonly node: RealNode;
  readonly etcd: RealEtcd;
  readonly daemon: FakeStnDaemon;
  readonly init: ContivInit;
  readonly #address: string;
  /** When the NIC was taken last. */
  takenAt = 0;

  static async create(
    t: TestContext,
    containers: Containers,
    address = '192.0.2.11/24',
  ): Promise<StnNode> {
    const folder = mkdtempSync(join(tmpdir(), 'stn-'));
    const machine = await Netns.create('etcd');
    const etcd = new RealEtcd(machine, join(folder, 'etcd'), '0.0.0.0');
    await etcd.start();
    const socket = join(folder, 'stn.sock');
    const daemon = await FakeStnDaemon.start(socket, 'status');
    daemon.host.set(NIC, stolen(address));
    const node = await RealNode.create({
      etcd,
      etcdConfig: { endpoints: [`${ETCD_ADDRESS}:2379`], 'insecure-transport': true },
      links: 'VETH',
      contiv: { crdNodeConfigurationDisabled: false, stnSocketFile: socket },
    });
    await node.vpp.kill();
    const init = new ContivInit(node, folder, containers);
    const created = new StnNode(node, etcd, daemon, init, address);
    t.after(async () => {
      await created.init.end('SIGKILL');
      await node[Symbol.asyncDispose]();
      daemon.close();
      await etcd.close();
      await machine.remove();
      rmSync(folder, { recursive: true, force: true });
    });
    const { netns } = node;
    const peer = ['type', 'veth', 'peer', 'name', 'to-node', 'netns', machine.path];
    await netns.run('ip', 'link', 'add', NIC, ...peer);
    await machine.run('ip', 'addr', 'add', `${ETCD_ADDRESS}/24`, 'dev', 'to-node');
    for (const [where, link] of [
      [machine, 'to-node'],
      [netns, NIC],
    ] as const) {
      // VPP sends no packet of AF_PACKET whose checksum the NIC would complete.
      await where.run('ethtool', '-K', link, 'tx', 'off');
      await where.run('ip', 'link', 'set', link, 'up');
    }
    await created.#move(false);
    daemon.onMove = (_, isTaken) => created.#move(isTaken);
    return created;
  }

  private constructor(
    node: RealNode,
    etcd: RealEtcd,
    daemon: FakeStnDaemon,
    init: ContivInit,
    address: string,
  ) {
    this.#address = address;
    this.node = node;
    this.etcd = etcd;
    this.daemon = daemon;
    this.init = init;
  }

  async #move(isTaken: boolean): Promise<void> {
    const { netns } = this.node;
    if (isTaken) {
      this.takenAt = performance.now();
      await netns.run('ip', 'addr', 'flush', 'dev', NIC);
      await netns.run('ip', 'route', 'flush', 'dev', NIC);
    } else {
      await netns.run('ip', 'addr', 'add', this.#address, 'dev', NIC);
      await netns.run('ip', 'route', 'add', ...linkRoute);
    }
  }

  /** The agent is ready and follows etcd, which it reaches through VPP. */
  async follows(pod: string): Promise<void> {
    const { node } = this;
    assert.match(await node.netns.run('ip', 'route', 'get', ETCD_ADDRESS), /dev vpp1/);
    await node.reflect(pod, '10.1.1.99');
    await until(
      'a change of etcd arrives',
      async () => podsInHistory(await node.agent.history()).has(`default/${pod}`),
      60_000,
    ).catch((cause) => {
      throw new Error(`${this.init.tail()}${node.agent.tail()}`, { cause });
    });
  }
}

const skip = withoutNodes() || withoutProgram('ethtool');

for (const containers of ['one container', 'two containers'] as const)
  describe(`a node of one NIC, the vswitch in ${containers}`, { skip, timeout: 400_000 }, () => {
    it('comes up at its first start, at its second one, and after contiv-stn has given the NIC back', async (t) => {
      const stn = await StnNode.create(t, containers);
      const { node, etcd, daemon, init } = stn;
      await etcd.store.put(nodeConfigKey, JSON.stringify(nodeConfig));
      await init.start();
      const upMs = Math.round(performance.now() - stn.takenAt);
      t.diagnostic(`ready ${upMs} ms after the NIC was taken`);
      assert.deepEqual(daemon.requests, [`steal ${NIC}`]);
      assert.match(
        await node.vpp.cli('show interface address'),
        /host-eth0[^\n]*\n[^\n]*192\.0\.2\.11\/24/,
      );
      await stn.follows('first');
      const record = await etcd.store.get('/vnf-agent/contiv-ksr/allocatedIDs/1');
      assert.match(record ?? '', /"name":"node1"/);

      await init.end('SIGTERM');
      if (containers === 'two containers') await node.agent.end('SIGTERM');
      assert.deepEqual(daemon.requests, [`steal ${NIC}`, `release ${NIC}`]);
      await init.start();
      await stn.follows('second');

      // As contiv-stn does when the vswitch does not come up
      daemon.givingBack.add(NIC);
      await daemon.giveBack(NIC);
      await init.whenEnded();
      assert.match(init.tail(), /CV_STN_NIC_LOST/);
      await init.start();
      await stn.follows('third');
    });
  });

describe('a node of one NIC with a /32', { skip, timeout: 400_000 }, () => {
  it('reaches its gateway, which is outside of this network', async (t) => {
    const stn = await StnNode.create(t, 'one container', '192.0.2.11/32');
    await stn.etcd.store.put(nodeConfigKey, JSON.stringify(nodeConfig));
    await stn.init.start();
    await stn.follows('first');
  });
});
