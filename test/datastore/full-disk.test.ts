/** Level stores on a small file system that is filled and freed again. */
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { LocalStoreUnavailableError } from '#datastore/disk-store.ts';
import { LevelStore } from '#datastore/level-store.ts';
import { StoreOpenError } from '#datastore/open-level.ts';
import type { CodedError } from '#infra/errors/errors.ts';
import { withoutMount } from '#test/support/requirements.ts';
import { SmallDisk } from '#test/support/small-disk.ts';

describe('a level store on a full disk', { skip: withoutMount(), timeout: 60_000 }, () => {
  let disk: SmallDisk;
  let folder: string;
  let folders = 0;
  let store: LevelStore;

  before(() => {
    disk = new SmallDisk('2m');
  });
  after(() => disk.close());
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  async function open(): Promise<void> {
    store = await LevelStore.open({ folder });
  }

  async function openNew(): Promise<void> {
    folder = join(disk.folder, `${folders++}`);
    await open();
    for (let at = 0; at < 50; at++) await store.put(`before/${at}`, 'x'.repeat(200));
  }

  /** Writes until one fails. @returns how many were acknowledged */
  async function writeUntilFailure(): Promise<number> {
    for (let at = 0; ; at++)
      try {
        await store.put(`filling/${at}`, 'x'.repeat(700));
      } catch (thrown) {
        assert.ok(thrown instanceof LocalStoreUnavailableError, String(thrown));
        assert.match(thrown.message, /No space left on device/);
        assert.equal(store.fault, thrown);
        return at;
      }
  }

  for (let round = 1; round <= 10; round++)
    it(`keeps the writes that it acknowledges after space was freed (round ${round})`, async () => {
      await openNew();
      disk.fill();
      const acknowledged = await writeUntilFailure();
      disk.free();
      for (let at = 0; at < 10; at++) await store.put(`after/${at}`, `${round}`);
      assert.equal(store.fault, undefined);
      await store.close();
      await open();
      assert.equal(store.damage, undefined);
      assert.equal((await store.list('before/')).entries.length, 50);
      assert.equal((await store.list('after/')).entries.length, 10);
      const { length } = (await store.list('filling/')).entries;
      assert.ok(length === acknowledged || length === acknowledged + 1);
    });

  it('rejects all calls while the disk is full, with one attempt for calls of the same time', async () => {
    await openNew();
    disk.fill();
    await writeUntilFailure();
    const results = await Promise.allSettled([
      ...Array.from({ length: 100 }, (_, at) => store.put(`rejected/${at}`, 'x')),
      store.get('before/0'),
      store.list(''),
      store.probe(),
      store.tryWrite(),
    ]);
    const reasons = results.map((result) => {
      assert.equal(result.status, 'rejected');
      return result.reason as unknown;
    });
    assert.ok(reasons.every((reason) => reason instanceof LocalStoreUnavailableError));
    assert.equal(new Set(reasons).size, 1, 'the error of one attempt');
    disk.free();
    await store.tryWrite();
    assert.equal(store.fault, undefined);
    assert.equal((await store.list('rejected/')).entries.length, 0);
  });

  it('is not started on a full disk, and loses nothing', async () => {
    await openNew();
    await store.close();
    disk.fill();
    await assert.rejects(open(), (error: CodedError) => {
      assert.ok(error instanceof StoreOpenError);
      assert.match(error.message, /No space left on device/);
      assert.match(error.remedy, /free space/);
      return true;
    });
    disk.free();
    await open();
    assert.equal(store.damage, undefined);
    assert.equal((await store.list('before/')).entries.length, 50);
  });

  it('calls its listener when it fails and when it can be written again', async () => {
    await openNew();
    const faults: boolean[] = [];
    store.onFault(() => faults.push(store.fault !== undefined));
    disk.fill();
    await writeUntilFailure();
    await assert.rejects(store.tryWrite());
    disk.free();
    await store.get('before/0');
    assert.ok(store.fault, 'a read does not show that the disk can be written');
    await store.tryWrite();
    assert.deepEqual([faults[0], faults.at(-1)], [true, false]);
  });
});
