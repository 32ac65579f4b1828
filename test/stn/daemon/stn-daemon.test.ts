/** The daemon on a fake host: its socket, its probes, and what it decides in the course of time. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { Value } from 'typebox/value';
import { ManualClock } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { httpSchema } from '#infra/http/config.ts';
import { Loggers, logsSchema } from '#infra/log/loggers.ts';
import { methodDefinition } from '#models/method-definition.ts';
import { type STNReply, type STNRequest, STNService } from '#models/stn/stn.gen.ts';
import { StnStateError } from '#stn/daemon/record-store.ts';
import { createStnDaemon, type StnDaemon, StnListenError } from '#stn/daemon/wire-stn-daemon.ts';
import { stnDaemonClient } from '#stn/daemon-client.ts';
import { StnGivenBackError, StnRefusedError } from '#stn/errors.ts';
import { ADDRESS, address, FakeHost, route } from './fake-host.ts';

type Method = keyof typeof STNService;

describe('contiv-stn', () => {
  let folder = '';
  let socketPath = '';
  let host: FakeHost;
  let clock: ManualClock;
  let daemon: StnDaemon;
  let lines: string[];

  const start = async (httpSocket = 'http.sock', stateFolder = join(folder, 'state')) => {
    daemon = createStnDaemon({
      socketPath,
      stateFolder,
      http: {
        ...Value.Create(httpSchema),
        endpoint: '127.0.0.1:0',
        'local-socket': join(folder, httpSocket),
      },
      network: host,
      pci: host.pci,
      bootId: 'boot',
      build: { version: 'v0', date: '', commit: '' },
      clock,
      loggers: new Loggers(Value.Create(logsSchema), undefined, {
        write: (line) => lines.push(line),
      }),
    });
    await daemon.start();
  };
  const stop = async (): Promise<void> => {
    await during(daemon.stop());
  };
  /** Virtual time passes quickly while the work is done. */
  const during = async <T>(work: Promise<T>): Promise<T> => {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => undefined);
    while (!isDone) {
      await clock.advance(50);
      await sleep(1);
    }
    return done;
  };
  const call = (method: Method, interface_name = ''): Promise<STNReply> =>
    new Promise((resolve, reject) => {
      const client = new Client(`unix:${socketPath}`, credentials.createInsecure());
      const { path, requestSerialize, responseDeserialize } = methodDefinition(STNService[method]);
      const request: STNRequest = { interface_name, dhcp_enabled: false };
      client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        (error: ServiceError | null, reply?: STNReply) => {
          client.close();
          if (error) reject(error);
          else resolve(reply!);
        },
      );
    });
  const seconds = async (count: number): Promise<void> => {
    for (let second = 0; second < count; second++) {
      await clock.advance(1_000);
      await sleep(2);
    }
  };
  /** The disk needs real time, so virtual time alone does not say when it is done. */
  const until = async (isDone: () => boolean | Promise<boolean>): Promise<void> => {
    for (let second = 0; !(await isDone()); second++) {
      assert.ok(second < 1_000);
      await seconds(1);
    }
  };
  const isBack = (): boolean => host.has('eth0');
  const probe = async (path: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${daemon.port}${path}`)).status;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'stn-'));
    socketPath = join(folder, 'run', 'stn.sock');
    clock = new ManualClock();
    host = new FakeHost();
    lines = [];
    const index = host.indexOf('eth0');
    host.setLink(index, { up: true });
    host.addAddress(index, address('10.1.0.5/24'));
    host.addAddress(index, address('fe80::1/64'));
    host.addRoute(index, route('10.1.0.0/24', { protocol: 2 }));
    host.addRoute(index, route('0.0.0.0/0', { gateway: '10.1.0.1' }));
    host.addRoute(index, route('10.8.0.0/24', { gateway: '10.1.0.1', table: 100 }));
    await start();
  });
  afterEach(async () => {
    await stop();
    rmSync(folder, { recursive: true });
  });

  it('answers only the preferred routes to a destination: VPP has no metrics', async () => {
    const index = host.indexOf('eth0');
    for (const [gateway, metric] of [
      ['10.1.0.3', 200],
      ['10.1.0.2', 100],
    ] as const)
      host.addRoute(index, route('10.5.0.0/16', { gateway, metric }));
    host.addRoute(index, route('0.0.0.0/0', { gateway: '10.1.0.9', metric: 1 }));
    const { routes } = await call('StealInterface', 'eth0');
    assert.deepEqual(routes, [
      { destination_subnet: '10.1.0.0/24', next_hop_ip: '' },
      { destination_subnet: '', next_hop_ip: '10.1.0.1' },
      { destination_subnet: '10.5.0.0/16', next_hop_ip: '10.1.0.2' },
    ]);
  });

  it('answers as the original', async () => {
    const stolen = {
      result: 0,
      error: '',
      pci_address: ADDRESS,
      ip_addresses: ['10.1.0.5/24', 'fe80::1/64'],
      routes: [
        { destination_subnet: '10.1.0.0/24', next_hop_ip: '' },
        { destination_subnet: '', next_hop_ip: '10.1.0.1' },
      ],
      kernel_driver: 'e1000e',
    };
    assert.deepEqual(await call('StealInterface', 'eth0'), stolen);
    assert.deepEqual(await call('StealInterface', 'eth0'), stolen);
    assert.deepEqual(await call('StolenInterfaceInfo', 'eth0'), stolen);
    assert.deepEqual(await call('StolenInterfaceInfo'), stolen);
    const released = await during(call('ReleaseInterface', 'eth0'));
    assert.deepEqual(released, {
      ...stolen,
      pci_address: '',
      ip_addresses: [],
      routes: [],
      kernel_driver: '',
    });
    assert.equal(host.has('eth0'), true);
  });

  it('answers failures with the status UNKNOWN and the reason', async () => {
    const failed = (method: Method, name: string, details: RegExp) =>
      assert.rejects(call(method, name), (error: ServiceError) => {
        assert.equal(error.code, 2);
        assert.match(error.details, details);
        return true;
      });
    await failed('StealInterface', 'eth7', /NIC "eth7": the host has no such link/);
    await failed('ReleaseInterface', 'eth0', /NIC "eth0": the NIC was not stolen/);
    await failed('StolenInterfaceInfo', 'eth0', /NIC "eth0": the NIC was not stolen/);
    await failed('StolenInterfaceInfo', '', /no NIC was stolen/);
  });

  it('does not start without its folders, and names the one that cannot be created', async () => {
    await stop();
    await assert.rejects(start('http.sock', '/proc/contiv/stn'), (error) => {
      assert.ok(error instanceof StnStateError);
      assert.match(
        error.message,
        /^\/proc\/contiv\/stn: cannot create .*: cannot create \/proc\/contiv:/,
      );
      return true;
    });
    socketPath = '/proc/contiv/stn.sock';
    await assert.rejects(start(), (error) => {
      assert.ok(error instanceof StnListenError);
      assert.match(error.message, /^\/proc\/contiv\/stn\.sock: cannot create the folder/);
      return true;
    });
  });

  it('is understood by the agent', async () => {
    const agent = stnDaemonClient(socketPath, systemClock);
    await assert.rejects(agent.stolenInterface(''), StnRefusedError);
    await call('StealInterface', 'eth0');
    const { pciAddress, addresses } = await agent.stolenInterface('');
    assert.equal(pciAddress, ADDRESS);
    assert.deepEqual(addresses, ['10.1.0.5/24', 'fe80::1/64']);
  });

  it('tells contiv-init that VPP has to release a NIC', async () => {
    const init = stnDaemonClient(socketPath, systemClock);
    await call('StealInterface', 'eth0');
    host.pci.failing.add('bind');
    await assert.rejects(during(call('ReleaseInterface', 'eth0')), /bind failed/);
    await assert.rejects(init.stolenInterface('eth0'), StnGivenBackError);
    host.pci.failing.clear();
  });

  it('gives the NIC back when vpp1 does not come up', async () => {
    await call('StealInterface', 'eth0');
    await seconds(25);
    assert.equal(host.has('eth0'), false);
    await until(isBack);
    await assert.rejects(call('StolenInterfaceInfo'), /no NIC was stolen/);
    assert.ok(lines.some((line) => line.includes('the vswitch does not come up')));
  });

  it('leaves the NIC with a vswitch whose link is made again, and takes it from one that ends', async () => {
    await call('StealInterface', 'eth0');
    host.plug('vpp1', { up: true });
    await seconds(60);
    host.unplug('vpp1');
    await seconds(5);
    host.plug('vpp1', { up: true });
    await seconds(60);
    assert.equal(host.has('eth0'), false);
    host.unplug('vpp1');
    await until(isBack);
  });

  it('leaves the NIC with a vswitch that works when the daemon ends, and gives it back otherwise', async () => {
    await call('StealInterface', 'eth0');
    host.plug('vpp1', { up: true });
    await stop();
    assert.equal(host.has('eth0'), false);
    await start();
    assert.equal((await call('StolenInterfaceInfo')).pci_address, ADDRESS);
    host.unplug('vpp1');
    await stop();
    assert.equal(host.has('eth0'), true);
    await start();
    await until(() => !readdirSync(join(folder, 'state')).includes('eth0.json'));
  });

  it('serves the probes, which name a NIC that cannot be given back', async () => {
    assert.equal(await probe('/liveness'), 200);
    assert.equal(await probe('/readiness'), 200);
    await call('StealInterface', 'eth0');
    host.pci.failing.add('bind');
    await assert.rejects(during(call('ReleaseInterface', 'eth0')), /bind failed/);
    assert.equal(await probe('/readiness'), 500);
    assert.equal(await probe('/liveness'), 200);
    host.pci.failing.clear();
    await until(async () => (await probe('/readiness')) === 200);
  });

  it('lets only its own user connect', () => {
    assert.equal(statSync(socketPath).mode & 0o777, 0o700);
    assert.equal(statSync(join(folder, 'state')).mode & 0o777, 0o700);
  });

  it('does not start twice', async () => {
    const first = daemon;
    await assert.rejects(start('other.sock'), /another process listens on the socket of --grpc/);
    daemon = first;
    assert.equal((await call('StealInterface', 'eth0')).result, 0);
  });

  it('keeps its NIC when another daemon is started by mistake', async () => {
    const first = daemon;
    await call('StealInterface', 'eth0');
    await assert.rejects(start('other.sock'), /another process listens on the socket of --grpc/);
    await stop();
    daemon = first;
    assert.equal(host.has('eth0'), false);
    assert.equal((await call('StolenInterfaceInfo', 'eth0')).pci_address, ADDRESS);
  });
});
