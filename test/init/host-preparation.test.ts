import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type KvStore, StoreUnavailableError } from '#datastore/api.ts';
import { LevelStore } from '#datastore/level-store.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { parseConfig } from '#infra/config/load.ts';
import { silentLogger } from '#infra/log/log.ts';
import { AgentCopy } from '#init/agent-copy.ts';
import { ApiSocketLock } from '#init/api-socket-lock.ts';
import { StartupConfigError, VppRunningError } from '#init/errors.ts';
import { HostPreparation } from '#init/host-preparation.ts';
import { NodeConfigReader } from '#init/node-config-reader.ts';
import { StolenNic } from '#init/stolen-nic.ts';
import { contivConfigFile } from '#plugins/contivconf/api.ts';
import { stnDaemonClient } from '#stn/daemon-client.ts';
import { StnGivenBackError } from '#stn/errors.ts';
import { FakeStnDaemon } from '#test/stn/fake-daemon.ts';
import { MemoryStore } from '#test/support/memory-store.ts';

const nic = { pci_address: '0000:0b:00.0', kernel_driver: 'e1000' };

const NODE_CONFIG = '/vnf-agent/contiv-ksr/k8s/nodeconfig/node1';

/** A host with a fake STN daemon. */
class Host {
  readonly folder = mkdtempSync(join(tmpdir(), 'host-'));
  readonly socket = join(this.folder, 'stn.sock');
  readonly givenFile = join(this.folder, 'given.conf');
  readonly runtimeFolder = join(this.folder, 'run');
  readonly stop = new AbortController();
  links: readonly string[] = ['lo', 'eth0', 'eth1'];
  /** Attempts to bind a device to a driver, which fail. */
  readonly bound: string[] = [];
  waits = 0;
  etcd: Pick<KvStore, 'get'> | undefined;
  readonly #lock = new ApiSocketLock(systemClock, silentLogger);
  daemon: FakeStnDaemon | undefined;

  constructor(t: TestContext) {
    t.after(() => {
      this.stop.abort();
      this.daemon?.close();
      this.#lock.release();
      rmSync(this.folder, { recursive: true });
    });
  }

  async startDaemon(): Promise<FakeStnDaemon> {
    this.daemon = await FakeStnDaemon.start(this.socket, 'status');
    for (const name of ['eth0', 'eth1']) this.daemon.host.set(name, nic);
    return this.daemon;
  }

  async copyOfEtcd(key: string, value: string): Promise<void> {
    const store = await LevelStore.open({ folder: this.#mirrorFolder, log: silentLogger });
    await store.put(key, value);
    await store.close();
  }

  get #mirrorFolder(): string {
    return join(this.folder, 'mirror');
  }

  prepare(contiv: string): HostPreparation {
    const ports = { clock: systemClock, random: systemRandom, log: silentLogger };
    return new HostPreparation({
      ...ports,
      nodeName: 'node1',
      config: parseConfig(contivConfigFile.schema, contiv, 'contiv.conf').value,
      givenFile: this.givenFile,
      runtimeFolder: this.runtimeFolder,
      lock: this.#lock,
      agentCopy: new AgentCopy({
        ...ports,
        nodeName: 'node1',
        etcd: this.etcd,
        mirrorFolder: this.#mirrorFolder,
      }),
      nodeConfigs: new NodeConfigReader({
        ...ports,
        nodeName: 'node1',
        etcd: this.etcd,
        localFolder: join(this.folder, 'none'),
        mirrorFolder: this.#mirrorFolder,
      }),
      vppProgram: async () => ({ version: 'vpp v26.06-release', plugins: ['cnat_plugin.so'] }),
      pci: {
        bind: async (address, driver) => {
          this.bound.push(`${address} ${driver}`);
          throw new Error('the driver is not loaded');
        },
      },
      nic: new StolenNic({
        ...ports,
        daemon: async () => stnDaemonClient(this.socket, systemClock),
        daemonSocket: this.socket,
        hostLinks: () => this.links,
      }),
    });
  }

  run(preparation: HostPreparation) {
    return preparation.run(this.stop.signal, async () => void this.waits++);
  }

  get generated(): string {
    return readFileSync(join(this.runtimeFolder, 'startup.conf'), 'utf8');
  }
}

describe('the host, before VPP starts,', () => {
  it('keeps its NICs without STN, and VPP gets a generated configuration', async (t) => {
    const host = new Host(t);
    const daemon = await host.startDaemon();
    const preparation = host.prepare(
      'nodeConfig: [{nodeName: node1, mainVPPInterface: {interfaceName: GigabitEthernet0/8/0}}]',
    );
    const { configuration, apiSocket } = await host.run(preparation);
    assert.equal(configuration, join(host.runtimeFolder, 'startup.conf'));
    assert.equal(apiSocket, join(host.runtimeFolder, 'api.sock'));
    assert.match(host.generated, /dev 0000:00:08\.0\n/);
    await preparation.undo();
    assert.deepEqual(daemon.requests, []);
  });

  it('has its vmxnet3 NICs bound to the driver of VPP, which starts without that, too', async (t) => {
    const host = new Host(t);
    const entry = '{interfaceName: vmxnet3-0/b/0/0}';
    const others = '[{interfaceName: GigabitEthernet0/8/0}]';
    const contiv = `nodeConfig: [{nodeName: node1, mainVPPInterface: ${entry}, otherVPPInterfaces: ${others}}]`;
    await host.run(host.prepare(contiv));
    assert.deepEqual(host.bound, ['0000:0b:00.0 vfio-pci']);
    assert.match(
      host.generated,
      /dev 0000:0b:00\.0 \{ name vmxnet3-0\/b\/0\/0 \}\n {2}dev 0000:00:08\.0\n/,
    );
  });

  it('loses the NIC that VPP takes over, and gets it back', async (t) => {
    const host = new Host(t);
    const daemon = await host.startDaemon();
    const preparation = host.prepare(
      'stealInterface: eth0\nipamConfig: {nodeInterconnectDHCP: true}\nnodeConfig: [{nodeName: node1, stealInterface: eth1}]',
    );
    await host.run(preparation);
    assert.match(host.generated, /dev 0000:0b:00\.0\n/);
    // contiv-init was killed: it starts once more.
    await host.run(preparation);
    await preparation.undo();
    assert.deepEqual(daemon.requests, ['steal eth1 dhcp', 'steal eth1 dhcp', 'release eth1']);
    assert.equal(daemon.taken.size, 0);
  });

  it('has VPP end when it gets the NIC back, not when the daemon has only forgotten it', {
    timeout: 60_000,
  }, async (t) => {
    const host = new Host(t);
    const daemon = await host.startDaemon();
    host.links = ['lo', 'eth0'];
    const preparation = host.prepare('stealInterface: eth1');
    await host.run(preparation);
    const seen: string[] = [];
    const lost = preparation.whenLost(host.stop.signal).then(({ message }) => seen.push(message));
    await daemon.giveBack('eth1');
    await systemClock.sleep(6_000);
    assert.deepEqual(seen, []);
    host.links = ['lo', 'eth0', 'eth1'];
    await lost;
    assert.match(seen[0]!, /eth1 was not taken/);

    host.links = ['lo', 'eth0'];
    daemon.givingBack.add('eth1');
    assert.ok((await preparation.whenLost(host.stop.signal)) instanceof StnGivenBackError);
  });

  it('loses the same first NIC after a crash', async (t) => {
    const host = new Host(t);
    const daemon = await host.startDaemon();
    await host.run(host.prepare('stealFirstNIC: true'));
    // The first one is not a link of the host any more.
    host.links = ['lo', 'eth1'];
    const preparation = host.prepare('stealFirstNIC: true');
    await host.run(preparation);
    await preparation.undo();
    assert.deepEqual(daemon.requests, ['steal eth0', 'steal eth0', 'release eth0']);
  });

  it('loses the same first NIC after it had it back', async (t) => {
    const host = new Host(t);
    const daemon = await host.startDaemon();
    const first = host.prepare('stealFirstNIC: true');
    await host.run(first);
    await first.undo();
    // Its driver has made the link again, which is the last one then.
    host.links = ['lo', 'eth1', 'eth0'];
    await host.run(host.prepare('stealFirstNIC: true'));
    assert.deepEqual(daemon.requests, ['steal eth0', 'release eth0', 'steal eth0']);
  });

  it('loses the same first NIC while the daemon still gives it back', async (t) => {
    const host = new Host(t);
    const daemon = await host.startDaemon();
    await host.run(host.prepare('stealFirstNIC: true'));
    await daemon.giveBack('eth0');
    // Its driver waits for the VPP of a contiv-init that was killed, so the link is missing.
    daemon.givingBack.add('eth0');
    host.links = ['lo', 'eth1'];
    await host.run(host.prepare('stealFirstNIC: true'));
    assert.deepEqual(daemon.requests, ['steal eth0', 'steal eth0']);
  });

  it('has VPP wait for a daemon that does not answer, with the agent running', async (t) => {
    const host = new Host(t);
    const running = host.run(host.prepare('stealInterface: eth1'));
    while (host.waits === 0) await systemClock.sleep(20);
    assert.equal(existsSync(join(host.runtimeFolder, 'startup.conf')), false);
    const daemon = await host.startDaemon();
    await running;
    assert.deepEqual(daemon.requests, ['steal eth1']);
  });

  it('keeps its NIC when the NodeConfig is corrected while the agent copies etcd', {
    timeout: 60_000,
  }, async (t) => {
    const host = new Host(t);
    const daemon = await host.startDaemon();
    const etcd = new MemoryStore();
    host.etcd = etcd;
    await etcd.put(NODE_CONFIG, '{"node_name":"node1","steal_interface":"eth1"}');
    const running = host.run(host.prepare('crdNodeConfigurationDisabled: false'));
    while (host.waits === 0) await systemClock.sleep(20);
    await etcd.put(NODE_CONFIG, '{"node_name":"node1"}');
    await running;
    assert.deepEqual(daemon.requests, []);
  });

  it('reads etcd with pauses while that answers only now and then', async (t) => {
    const host = new Host(t);
    await host.copyOfEtcd(NODE_CONFIG, '{"node_name":"node1","steal_interface":"eth0"}');
    let reads = 0;
    host.etcd = {
      get: async () => {
        if (++reads % 3 !== 0) throw new StoreUnavailableError('etcd does not answer');
        return '{"node_name":"node1","steal_interface":"eth1"}';
      },
    };
    const running = host.run(host.prepare('crdNodeConfigurationDisabled: false'));
    while (host.waits === 0) await systemClock.sleep(20);
    await systemClock.sleep(500);
    host.stop.abort(new Error('stopped'));
    await assert.rejects(running, /stopped/);
    assert.ok(reads <= 3, `${reads} reads`);
  });

  it('is not waited for after the stop', async (t) => {
    const host = new Host(t);
    const preparation = host.prepare('stealInterface: eth1');
    const running = host.run(preparation);
    while (host.waits === 0) await systemClock.sleep(20);
    host.stop.abort(new Error('stopped'));
    await assert.rejects(running, /stopped/);
    await preparation.undo();
  });

  it('keeps its NIC when the stop comes before the request', async (t) => {
    const host = new Host(t);
    const daemon = await host.startDaemon();
    const preparation = host.prepare('stealInterface: eth1');
    host.stop.abort(new Error('stopped'));
    await assert.rejects(host.run(preparation), /stopped/);
    await preparation.undo();
    assert.deepEqual(daemon.requests, []);
  });

  it('keeps a NIC that the daemon refuses to take, and VPP starts without it', {
    timeout: 30_000,
  }, async (t) => {
    const host = new Host(t);
    const daemon = await host.startDaemon();
    const preparation = host.prepare('stealInterface: eth7');
    await host.run(preparation);
    assert.match(host.generated, /dpdk_plugin\.so \{ disable \}/);
    await preparation.undo();
    assert.deepEqual(daemon.requests, ['steal eth7', 'steal eth7', 'steal eth7']);
  });

  it('keeps its NIC when VPP would not start', { timeout: 30_000 }, async (t) => {
    const host = new Host(t);
    const daemon = await host.startDaemon();
    const preparation = host.prepare('stealInterface: eth1');
    writeFileSync(host.givenFile, 'unix { cli-listen /run/vpp/cli.sock }');
    await assert.rejects(host.run(preparation), StartupConfigError);

    writeFileSync(host.givenFile, `unix { nodaemon runtime-dir ${host.runtimeFolder} }`);
    mkdirSync(host.runtimeFolder);
    const other = createServer().listen(join(host.runtimeFolder, 'api.sock'));
    await assert.rejects(host.run(preparation), VppRunningError);
    assert.deepEqual(daemon.requests, []);
    other.close();
    const { configuration } = await host.run(preparation);
    assert.equal(configuration, host.givenFile);
  });
});
