import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { StnDaemonError, StnRefusedError, stnDaemonClient } from '#stn/daemon-client.ts';
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

  it('is passed on when it refuses', async () => {
    await assert.rejects(
      stnDaemonClient(socket, systemClock).stolenInterface('eth2'),
      (error: Error) => {
        assert.ok(error instanceof StnRefusedError);
        assert.match(
          error.message,
          /NIC eth2: the STN daemon refused the request: eth2 was not taken/,
        );
        return true;
      },
    );
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
