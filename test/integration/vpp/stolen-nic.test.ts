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
import { setTimeout } from 'node:timers/promises';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { FakeStnDaemon } from '#test/stn/fake-daemon.ts';
import { withoutNodes, withoutProgram, withoutVhostNet } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { type Containers, ContivInit } from '../support/contiv-init.ts';
import { RealEtcd } from '../support/etcd.ts';
import { Netns } from '../support/netns.ts';
import { bothFamilies } from '../support/networks.ts';
import { type NodeOptions, RealNode } from '../support/node.ts';
import { podsInHistory } from '../support/pods-in-history.ts';
import {
  type Endpoint,
  isReachable,
  type NetworkNamespace,
  ping,
  transfer,
} from '../support/traffic.ts';

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

/** Of IPv6, with both families. */
const GATEWAY6 = '2001:db8:2::1';
/** Behind both gateways. */
const remote = { 4: '198.51.100.1', 6: '2001:db8:77::1' } as const;

function stolen(addresses: readonly string[]) {
  return {
    pci_address: '0000:0b:00.0',
    kernel_driver: 'e1000e',
    ip_addresses: [...addresses],
    routes: [
      { destination_subnet: '', next_hop_ip: ETCD_ADDRESS },
      { destination_subnet: `${ETCD_ADDRESS}/32`, next_hop_ip: '' },
      ...(addresses.length > 1 ? [{ destination_subnet: '', next_hop_ip: GATEWAY6 }] : []),
    ],
  };
}

/** The node, the machine of etcd, and the daemon, which is on the node. */
class StnNode {
  readonly node: RealNode;
  readonly etcd: RealEtcd;
  readonly daemon: FakeStnDaemon;
  readonly init: ContivInit;
  /** On the network of the NIC; etcd runs there. */
  readonly machine: Netns;
  readonly #addresses: readonly string[];
  /** When the NIC was taken last. */
  takenAt = 0;

  static async create(
    t: TestContext,
    containers: Containers,
    addresses: readonly string[] = ['192.0.2.11/24'],
    contiv: NodeOptions['contiv'] = {},
    links: NodeOptions['links'] = 'VETH',
  ): Promise<StnNode> {
    const folder = mkdtempSync(join(tmpdir(), 'stn-'));
    const machine = await Netns.create('etcd');
    const etcd = new RealEtcd(machine, join(folder, 'etcd'), '0.0.0.0');
    await etcd.start();
    const socket = join(folder, 'stn.sock');
    const daemon = await FakeStnDaemon.start(socket, 'status');
    daemon.host.set(NIC, stolen(addresses));
    const node = await RealNode.create({
      etcd,
      etcdConfig: { endpoints: [`${ETCD_ADDRESS}:2379`], 'insecure-transport': true },
      links,
      contiv: { crdNodeConfigurationDisabled: false, stnSocketFile: socket, ...contiv },
    });
    await node.vpp.kill();
    const init = new ContivInit(node, folder, containers);
    const created = new StnNode(node, etcd, daemon, init, machine, addresses);
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
    await machine.run('ip', 'addr', 'add', `${GATEWAY6}/64`, 'dev', 'to-node', 'nodad');
    for (const [family, one] of Object.entries(remote))
      await machine.run('ip', `-${family}`, 'addr', 'add', one, 'dev', 'lo');
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
    machine: Netns,
    addresses: readonly string[],
  ) {
    this.machine = machine;
    this.#addresses = addresses;
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
      for (const family of ['-4', '-6'])
        await netns.run('ip', family, 'route', 'flush', 'dev', NIC);
    } else {
      for (const address of this.#addresses)
        await netns.run('ip', 'addr', 'add', address, 'dev', NIC, ...nodad(address));
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

function nodad(address: string): readonly string[] {
  return address.includes(':') ? ['nodad'] : [];
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
    const stn = await StnNode.create(t, 'one container', ['192.0.2.11/32']);
    await stn.etcd.store.put(nodeConfigKey, JSON.stringify(nodeConfig));
    await stn.init.start();
    await stn.follows('first');
  });
});

const own = { 4: '192.0.2.11', 6: '2001:db8:2::11' } as const;
const families = [4, 6] as const;

for (const first of families)
  for (const stnVersion of [1, 2])
    describe(`a node of one NIC with both families, IPv${first} first, STN version ${stnVersion}`, {
      skip: skip || withoutVhostNet(),
      timeout: 400_000,
    }, () => {
      it('reaches others and is reached in both, also after kills and after the NIC was given back', async (t) => {
        const { nodeInterconnectCIDR: _, ...ipamConfig } = bothFamilies(first).ipamConfig;
        const addresses = [`${own[4]}/24`, `${own[6]}/64`];
        const contiv = { stnVersion, ipamConfig };
        const stn = await StnNode.create(t, 'one container', addresses, contiv, 'TAP');
        const { node, machine, daemon, init } = stn;
        await stn.etcd.store.put(nodeConfigKey, JSON.stringify(nodeConfig));
        await init.start();
        await stn.follows('first');
        const web = await node.pod('web');
        // what leaves by IPv6 keeps its source
        await machine.run('ip', 'route', 'add', web.addressOf(6), 'via', own[6]);
        const host = (family: 4 | 6) => at(node.netns, own[family]);
        const outside = (family: 4 | 6) => at(machine, family === 4 ? ETCD_ADDRESS : GATEWAY6);
        const reach = async () => {
          for (const family of families) {
            const way = await node.netns.run('ip', 'route', 'get', remote[family]);
            assert.match(way, /dev vpp1/);
            await until(
              `IPv${family} is up`,
              () => isReachable(node.netns, outside(family).address),
              60_000,
            );
            await ping(node.netns, remote[family]);
            await ping(machine, own[family]);
            for (const [from, to] of [
              [host(family), outside(family)],
              [outside(family), host(family)],
              [at(web, web.addressOf(family)), outside(family)],
              [at(web, web.addressOf(family)), host(family)],
              [host(family), at(web, web.addressOf(family))],
            ] as const) {
              const { sent, received } = await transfer(from, to, 1);
              assert.deepEqual(received, sent, `${from.address} to ${to.address}`);
            }
            await ping(web, remote[family]);
          }
        };
        await reach();
        assert.deepEqual(await node.agent.drift(), []);
        await init.end('SIGKILL');
        await init.start();
        await reach();
        daemon.givingBack.add(NIC);
        await daemon.giveBack(NIC);
        await init.whenEnded();
        for (const family of families) await ping(node.netns, outside(family).address);
        await init.start();
        await reach();
      });
    });

describe('source NAT of IPv6 at a node of one NIC', {
  skip: skip || withoutVhostNet() || withoutProgram('socat'),
  timeout: 400_000,
}, () => {
  it('lets pods out with the address that host and VPP share, and the host keeps its connections', async (t) => {
    const { nodeInterconnectCIDR: _, ...ipamConfig } = bothFamilies(6).ipamConfig;
    const contiv = { ipamConfig, natExternalTrafficIPv6: 'always' } as const;
    const addresses = [`${own[4]}/24`, `${own[6]}/64`];
    const stn = await StnNode.create(t, 'one container', addresses, contiv, 'TAP');
    const { node, machine, init } = stn;
    await stn.etcd.store.put(nodeConfigKey, JSON.stringify(nodeConfig));
    await init.start();
    await stn.follows('first');
    const web = await node.pod('web');
    // outside has no route to pods: only what is translated gets an answer
    await until('IPv6 is up', () => isReachable(web, remote[6]), 60_000);
    const [pod, host, outside] = [
      at(web, web.addressOf(6)),
      at(node.netns, own[6]),
      at(machine, GATEWAY6),
    ];
    for (const from of [pod, host]) {
      const { sent, received } = await transfer(from, outside, 4);
      assert.deepEqual(received, sent);
    }
    await ping(machine, own[6]);
    // it tells each client by which address and port it sees it
    const peer = 'SYSTEM:sleep 2; echo $SOCAT_PEERADDR $SOCAT_PEERPORT';
    const server = machine
      .run('timeout', '20', 'socat', 'TCP6-LISTEN:7070,reuseaddr,fork', peer)
      .catch(() => undefined);
    await until('the server listens', async () =>
      (await machine.run('ss', '-ltn')).includes(':7070'),
    );
    const seenBy = (from: Endpoint) =>
      from.run('socat', '-u', `TCP6:[${GATEWAY6}]:7070,sourceport=40001,reuseaddr`, '-');
    const ofHost = seenBy(host);
    await setTimeout(500);
    const [podPort, hostPort] = [await seenBy(pod), await ofHost].map((text) => {
      const [address, port] = text.trim().split(' ');
      assert.equal(address, '[2001:0db8:0002:0000:0000:0000:0000:0011]');
      return port;
    });
    // the host's connection is a session of cnat, too
    assert.equal(hostPort, '40001');
    assert.notEqual(podPort, hostPort);
    await server;
    assert.deepEqual(await node.agent.drift(), []);
  });
});

function at(place: NetworkNamespace, address: string): Endpoint {
  return { path: place.path, address, run: (...command) => place.run(...command) };
}
