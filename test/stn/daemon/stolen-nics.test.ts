import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { NicNotStealableError } from '#stn/daemon/nic-reader.ts';
import { diskRecordStore, type RecordStore, StnStateError } from '#stn/daemon/record-store.ts';
import { NicNotStolenError, StolenNics } from '#stn/daemon/stolen-nics.ts';
import { ADDRESS, address, FakeHost, route } from './fake-host.ts';

/** Thrown by a step with which the process ends. */
class CrashError extends Error {}

const routes = [
  route('0.0.0.0/0', { gateway: '10.2.0.1', metric: 100 }),
  route('10.2.0.0/24', { gateway: '10.1.0.1', preferredSource: '10.1.0.5' }),
  route('10.1.0.0/24', { protocol: 2, scope: 253 }),
];

describe('stolen NICs', () => {
  let folder = '';
  let host: FakeHost;
  let clock: ManualClock;
  let nics: StolenNics;
  let before: unknown;

  const start = async (
    more: { store?: RecordStore; bootId?: string } = {},
  ): Promise<StolenNics> => {
    const started = new StolenNics({
      network: host,
      pci: host.pci,
      store: diskRecordStore(folder, silentLogger),
      bootId: 'boot 1',
      clock,
      log: silentLogger,
      ...more,
    });
    await started.start();
    return started;
  };
  /** Virtual time passes while the work is done. */
  const during = async <T>(work: Promise<T>): Promise<T> => {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    done.catch(() => undefined);
    while (!isDone) await clock.advance(100);
    return done;
  };
  /** As the daemon does each second. */
  const settle = async (): Promise<void> => {
    for (let second = 0; second < 5; second++) {
      await clock.advance(1_000);
      await during(nics.check());
    }
  };
  const files = (): string[] => readdirSync(folder);

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'stn-records-'));
    clock = new ManualClock();
    host = new FakeHost();
    const index = host.indexOf('eth0');
    host.setLink(index, { up: true, mtu: 9000, mac: '02:00:00:00:00:77' });
    for (const cidr of ['10.1.0.5/24', '10.1.0.6/24', 'fe80::1/64'])
      host.addAddress(index, address(cidr));
    for (const each of routes.toReversed()) host.addRoute(index, each);
    before = host.state('eth0');
    nics = await start();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const addDevice = (link: string, at: string): void => {
    const appear = (): string => {
      host.plug(link);
      return link;
    };
    host.pci.add({ address: at, link, driver: 'e1000e', appear, vanish: () => host.unplug(link) });
  };

  const isGivenBack = (): void => {
    assert.deepEqual(host.state('eth0'), before);
    assert.equal(host.pci.driverOf(ADDRESS), 'e1000e');
  };

  it('are on the disk in a readable form, and given back as they were', async () => {
    await nics.steal('eth0', false);
    assert.equal(host.has('eth0'), false);
    const record = JSON.parse(readFileSync(join(folder, 'eth0.json'), 'utf8'));
    assert.equal(record.pciAddress, ADDRESS);
    assert.deepEqual(record.link, { up: true, mtu: 9000, mac: '02:00:00:00:00:77' });
    await during(nics.release('eth0'));
    isGivenBack();
    await settle();
    assert.deepEqual(files(), []);
  });

  it('are bound to vfio-pci if it is loaded, and work without', async () => {
    host.pci.loaded.add('vfio-pci');
    await nics.steal('eth0', false);
    assert.equal(host.pci.driverOf(ADDRESS), 'vfio-pci');
    await during(nics.release('eth0'));
    isGivenBack();
  });

  it('answer a second steal with the same record, also after a restart', async () => {
    const record = await nics.steal('eth0', true);
    assert.deepEqual(await nics.steal('eth0', false), record);
    nics = await start();
    assert.deepEqual(await nics.steal('eth0', false), record);
    assert.deepEqual(await nics.info(''), record);
    assert.deepEqual(await nics.info('eth0'), record);
  });

  it('are not given back addresses and routes with DHCP', async () => {
    await nics.steal('eth0', true);
    await during(nics.release('eth0'));
    const { addresses, up } = host.state('eth0') as { addresses: unknown[]; up: boolean };
    assert.deepEqual(addresses, []);
    assert.equal(up, true);
    await settle();
    assert.deepEqual(files(), []);
  });

  it('are rejected when the host could not get them back', async () => {
    const rejected = (name: string, reason: RegExp) =>
      assert.rejects(nics.steal(name, false), (error) => {
        assert.ok(error instanceof NicNotStealableError);
        assert.match(error.message, reason);
        return true;
      });
    await rejected('eth7', /NIC "eth7": the host has no such link/);
    await rejected('', /the host has no such link/);
    await rejected('../eth0', /the host has no such link/);
    host.plug('veth0', { kind: 'veth' });
    await rejected('veth0', /it is not a PCI device \(veth\)/);
    host.plug('eth0.5', { kind: 'vlan', lowerIndex: host.indexOf('eth0') });
    await rejected('eth0', /links are stacked on it, .*: eth0\.5 \(vlan\)/);
    host.unplug('eth0.5');
    host.plug('eth1', { masterIndex: host.plug('bond0', { kind: 'bond' }) });
    addDevice('eth1', '0000:0c:00.0');
    await rejected('eth1', /it belongs to bond0 \(bond\)/);
    isGivenBack();
    assert.deepEqual(files(), []);
  });

  it('are several, of which one is given back', async () => {
    host.plug('eth1');
    addDevice('eth1', '0000:0c:00.0');
    await nics.steal('eth1', false);
    await nics.steal('eth0', false);
    assert.equal((await nics.info('')).name, 'eth1');
    await during(nics.release('eth0'));
    isGivenBack();
    assert.equal(host.has('eth1'), false);
    await during(nics.releaseAll());
    assert.equal(host.has('eth1'), true);
    await settle();
    assert.deepEqual(files(), []);
  });

  it('stay with the host when the record cannot be written', async () => {
    const full: RecordStore = {
      load: async () => [],
      save: async () => {
        throw new StnStateError('cannot write the record: ENOSPC');
      },
      remove: async () => undefined,
    };
    nics = await start({ store: full });
    await assert.rejects(nics.steal('eth0', false), StnStateError);
    isGivenBack();
    await assert.rejects(nics.info(''), NicNotStolenError);
  });

  it('stay with the host when the driver does not let the device go', async () => {
    host.pci.failing.add('unbind');
    await assert.rejects(during(nics.steal('eth0', false)), /unbind failed/);
    isGivenBack();
    await settle();
    assert.deepEqual(files(), []);
    await assert.rejects(nics.info('eth0'), NicNotStolenError);
  });

  it('are given back although the disk cannot be written', async () => {
    await nics.steal('eth0', false);
    const store = diskRecordStore(folder, silentLogger);
    let isFull = true;
    const failing = async (): Promise<void> => {
      if (isFull) throw new StnStateError('cannot write the record: EROFS');
    };
    nics = await start({
      store: {
        load: store.load,
        save: failing,
        remove: async (name) => failing().then(() => store.remove(name)),
      },
    });
    await during(nics.release('eth0'));
    isGivenBack();
    await settle();
    assert.deepEqual(files(), ['eth0.json']);
    isFull = false;
    await settle();
    assert.deepEqual(files(), []);
  });

  it('are tried again when the driver cannot be bound, and reported meanwhile', async () => {
    await nics.steal('eth0', false);
    host.pci.failing.add('bind');
    await assert.rejects(during(nics.release('eth0')), /bind failed/);
    await settle();
    assert.match(nics.problem ?? '', /bind failed/);
    host.pci.failing.clear();
    await settle();
    await settle();
    isGivenBack();
    assert.equal(nics.problem, undefined);
    assert.deepEqual(files(), []);
  });

  it('have their name again when the driver gives another one', async () => {
    await nics.steal('eth0', false);
    host.nameOfDriver = 'enp11s0';
    await during(nics.release('eth0'));
    isGivenBack();
  });

  it('are repaired three seconds after the release', async () => {
    await nics.steal('eth0', false);
    await during(nics.release('eth0'));
    host.setLink(host.indexOf('eth0'), { up: false });
    await settle();
    isGivenBack();
  });

  it('are given up to the operator after 20 checks when a route cannot be restored', async () => {
    await nics.steal('eth0', false);
    const path = join(folder, 'eth0.json');
    const record = JSON.parse(readFileSync(path, 'utf8'));
    record.routes.push(route('10.9.0.0/24', { gateway: '192.168.1.1' }));
    writeFileSync(path, JSON.stringify(record));
    nics = await start();
    await assert.rejects(
      during(nics.release('eth0')),
      /missing on the host: route 10\.9\.0\.0\/24 via 192\.168\.1\.1: the gateway is unreachable/,
    );
    for (let round = 0; round < 40 && files().length > 0; round++) await settle();
    assert.deepEqual(files(), []);
    isGivenBack();
  });

  it('can be stolen again while they are given back', async () => {
    const record = await nics.steal('eth0', false);
    host.pci.failing.add('bind');
    await assert.rejects(during(nics.release('eth0')));
    host.pci.failing.clear();
    assert.deepEqual(await nics.steal('eth0', false), record);
    assert.equal(host.has('eth0'), false);
    await settle();
    assert.equal(host.has('eth0'), false);
    await during(nics.release('eth0'));
    isGivenBack();
  });

  it('that were bound and configured by hand are read and stolen again', async () => {
    await nics.steal('eth0', false);
    await host.pci.bind(ADDRESS, 'e1000e');
    host.setLink(host.indexOf('eth0'), { up: true });
    host.addAddress(host.indexOf('eth0'), address('10.5.0.5/24'));
    const { addresses } = await nics.steal('eth0', false);
    assert.deepEqual(addresses, [address('10.5.0.5/24')]);
    assert.equal(host.has('eth0'), false);
  });

  it('are forgotten when the host has booted and has them', async () => {
    await nics.steal('eth0', false);
    await host.pci.bind(ADDRESS, 'e1000e');
    nics = await start({ bootId: 'boot 2' });
    await assert.rejects(nics.info(''), NicNotStolenError);
    assert.deepEqual(files(), []);
  });

  it('are given back when the host has booted and does not have them', async () => {
    await nics.steal('eth0', false);
    nics = await start({ bootId: 'boot 2' });
    await assert.rejects(nics.info(''), NicNotStolenError);
    await settle();
    isGivenBack();
  });

  it('stay stolen after a restart when they were taken again since the host has booted', async () => {
    await nics.steal('eth0', false);
    nics = await start({ bootId: 'boot 2' });
    await nics.steal('eth0', false);
    nics = await start({ bootId: 'boot 2' });
    assert.equal((await nics.info('eth0')).state, 'stolen');
    await settle();
    assert.equal(host.has('eth0'), false);
    await during(nics.release('eth0'));
    isGivenBack();
  });

  it('are unknown when a file is damaged, which stays', async () => {
    await nics.steal('eth0', false);
    for (const text of ['', '{}', '{"version":1', 'null']) {
      writeFileSync(join(folder, 'eth0.json'), text);
      nics = await start();
      await assert.rejects(nics.info(''), NicNotStolenError);
      assert.deepEqual(files(), ['eth0.json']);
    }
  });

  it('lose nothing in a crash at any step', async () => {
    let steps = 0;
    for (let step = 1, isCrashed = true; isCrashed; step++) {
      isCrashed = false;
      let left = step;
      const crashing = <T extends object>(target: T): T =>
        new Proxy(target, {
          get(_, name) {
            const value = Reflect.get(target, name) as unknown;
            if (typeof value !== 'function') return value;
            return (...args: unknown[]) => {
              const crash = (): never => {
                isCrashed = true;
                throw new CrashError();
              };
              left--;
              // Before the step; after it; and in each later one, because the process has ended.
              if (left === 0 || isCrashed) crash();
              const result = value.apply(target, args) as unknown;
              left--;
              if (left !== 0) return result;
              return result instanceof Promise ? result.then(crash) : crash();
            };
          },
        });
      const doomed = new StolenNics({
        network: crashing<FakeHost>(host),
        pci: crashing(host.pci),
        store: crashing(diskRecordStore(folder, silentLogger)),
        bootId: 'boot 1',
        clock,
        log: silentLogger,
      });
      try {
        await during(doomed.start());
        await during(doomed.steal('eth0', false));
        await during(doomed.release('eth0'));
        await clock.advance(4_000);
        await during(doomed.check());
      } catch (thrown) {
        assert.ok(isCrashed, String(thrown));
      }
      nics = await start();
      await settle();
      const stolen = await nics.info('').catch(() => undefined);
      if (stolen) {
        assert.equal(host.has('eth0'), false, `step ${step}`);
        await during(nics.release('eth0'));
        await settle();
      }
      assert.deepEqual(host.state('eth0'), before, `step ${step}`);
      isGivenBack();
      assert.deepEqual(files(), [], `step ${step}`);
      steps = step;
    }
    assert.ok(steps > 50 && steps < 500, `${steps} steps`);
  });
});
