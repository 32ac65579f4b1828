/** The records on real file systems. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { silentLogger } from '#infra/log/log.ts';
import type { NicRecord } from '#stn/daemon/nic-record.ts';
import { diskRecordStore, type RecordStore, StnStateError } from '#stn/daemon/record-store.ts';
import { withoutMount } from '#test/support/requirements.ts';
import { SmallDisk } from '#test/support/small-disk.ts';
import { address } from './fake-host.ts';

function record(addresses: number): NicRecord {
  return {
    version: 1,
    state: 'stolen',
    name: 'eth0',
    pciAddress: '0000:0b:00.0',
    driver: 'e1000e',
    dhcp: false,
    bootId: 'boot',
    link: { up: true, mtu: 1500 },
    addresses: Array.from({ length: addresses }, (_, index) => address(`10.0.${index}.1/24`)),
    routes: [],
  };
}

describe('the records of NICs on a small disk', { skip: withoutMount() }, () => {
  let disk: SmallDisk;
  let store: RecordStore;
  before(async () => {
    disk = new SmallDisk('1m');
    store = diskRecordStore(join(disk.folder, 'stn'), silentLogger);
    await store.load();
  });
  after(() => disk.close());

  it('stay as they were when it is full', async () => {
    await store.save(record(1));
    disk.fill();
    await assert.rejects(store.save(record(200)), (error) => {
      assert.ok(error instanceof StnStateError);
      assert.match(error.message, /stn\/eth0\.json: cannot write the record: ENOSPC/);
      return true;
    });
    assert.deepEqual(await store.load(), [record(1)]);
    disk.free();
    await store.save(record(200));
    assert.deepEqual(await store.load(), [record(200)]);
  });

  it('stay as they were when it is read-only', async () => {
    const remount = (mode: string) =>
      spawnSync('mount', ['-o', `remount,${mode}`, disk.folder]).status;
    assert.equal(remount('ro'), 0);
    await assert.rejects(store.save(record(1)), StnStateError);
    await assert.rejects(store.remove('eth0'), StnStateError);
    assert.deepEqual(await store.load(), [record(200)]);
    assert.equal(remount('rw'), 0);
    await store.remove('eth0');
    assert.deepEqual(await store.load(), []);
  });

  it('are not those that a killed process had begun to write', async () => {
    const folder = join(disk.folder, 'stn');
    writeFileSync(join(folder, 'eth0.json.new'), '{"version"');
    assert.deepEqual(await store.load(), []);
    await store.save(record(1));
    assert.deepEqual(readdirSync(folder), ['eth0.json']);
  });
});
