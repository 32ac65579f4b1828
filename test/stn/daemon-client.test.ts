import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { stnDaemonClient } from '#stn/daemon-client.ts';
import { StnDaemonError, StnRefusedError } from '#stn/errors.ts';
import { FakeStnDaemon } from './fake-daemon.ts';

describe('the STN daemon', () => {
  const folder = mkdtempSync(join(tmpdir(), 'stn-'));
  const socket = join(folder, 'stn.sock');
  let daemon: FakeStnDaemon;

  before(async () => {
    daemon = await FakeStnDaemon.start(socket);
    daemon.taken.set('eth1', {
      pci_address: '0000:0b:00.0',
      kernel_driver: 'e1000',
      ip_addresses: ['10.20.0.5/24'],
      routes: [{ destination_subnet: '', next_hop_ip: '10.20.0.1' }],
    });
  });

  after(() => {
    daemon.close();
    rmSync(folder, { recursive: true });
  });

  it('returns a NIC by its name, or the first one', async () => {
    const stn = stnDaemonClient(socket, systemClock);
    const expected = {
      pciAddress: '0000:0b:00.0',
      kernelDriver: 'e1000',
      addresses: ['10.20.0.5/24'],
      routes: [{ destination: '', gateway: '10.20.0.1' }],
    };
    assert.deepEqual(await stn.stolenInterface('eth1'), expected);
    assert.deepEqual(await stn.stolenInterface(''), expected);
  });

  for (const refusal of ['reply', 'status'] as const)
    it(`is passed on when it refuses by ${refusal}`, async (t) => {
      const path = join(folder, `${refusal}.sock`);
      const refusing = await FakeStnDaemon.start(path, refusal);
      t.after(() => refusing.close());
      const stn = stnDaemonClient(path, systemClock);
      for (const request of [
        stn.stolenInterface('eth2'),
        stn.steal('eth2', false),
        stn.release('eth2', false),
      ])
        await assert.rejects(request, (error: Error) => {
          assert.ok(error instanceof StnRefusedError);
          assert.match(
            error.message,
            /NIC eth2: the STN daemon refused the request: eth2 was not taken/,
          );
          return true;
        });
    });

  it('takes a NIC, which may be repeated, and gives it back', async () => {
    const stn = stnDaemonClient(socket, systemClock);
    daemon.host.set('eth3', { pci_address: '0000:0c:00.0', kernel_driver: 'igb' });
    const { pciAddress } = await stn.steal('eth3', true);
    assert.equal(pciAddress, '0000:0c:00.0');
    assert.deepEqual(await stn.steal('eth3', true), await stn.stolenInterface('eth3'));
    await stn.release('eth3', true);
    await assert.rejects(stn.stolenInterface('eth3'), StnRefusedError);
    assert.deepEqual(daemon.requests, ['steal eth3 dhcp', 'steal eth3 dhcp', 'release eth3']);
  });

  it('that is not there is named by its socket', async () => {
    const stn = stnDaemonClient(join(folder, 'absent.sock'), systemClock);
    await assert.rejects(stn.stolenInterface('eth1'), (error: Error) => {
      assert.ok(error instanceof StnDaemonError);
      assert.match(error.message, /absent\.sock/);
      return true;
    });
  });
});
