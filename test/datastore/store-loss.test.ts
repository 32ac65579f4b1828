/** A local database that comes back without what was written to it, compared with its marker. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import {
  cp,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Level } from 'level';
import type { StoreHistory } from '#datastore/disk-store.ts';
import { LevelStore } from '#datastore/level-store.ts';

const root = await mkdtemp(join(tmpdir(), 'store-loss-'));
after(() => rm(root, { recursive: true }));
let folders = 0;
const newFolder = () => join(root, `${folders++}`);

/** A database with ten batches, closed, and a copy of it after the first five. */
async function written(): Promise<{ folder: string; older: string }> {
  const folder = newFolder();
  const older = newFolder();
  for (const part of ['a', 'b']) {
    const store = await LevelStore.open({ folder });
    if (store.loss) await store.resolveLoss();
    for (let at = 0; at < 5; at++) await store.put(`${part}/${at}`, 'x'.repeat(100));
    await store.close();
    if (part === 'a') await cp(folder, older, { recursive: true });
  }
  return { folder, older };
}

async function replace(folder: string, by: string): Promise<void> {
  await rm(folder, { recursive: true });
  await rename(by, folder);
}

async function logOf(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.log')).sort();
  return join(folder, names.at(-1)!);
}

/** Damages all files of a database. */
async function rubbish(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (!/^(LOCK|LOG)/.test(name)) await writeFile(join(folder, name), 'rubbish '.repeat(100));
}

async function halve(file: string): Promise<void> {
  const { length } = await readFile(file);
  await truncate(file, length >> 1);
}

async function historyOf(folder: string): Promise<StoreHistory | undefined> {
  const store = await LevelStore.open({ folder });
  const { loss } = store;
  await store.close();
  return loss?.history;
}

async function overwrite(file: string, position: number, text: string): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.write(text, position);
  await handle.close();
}

describe('loss of a local database', { timeout: 60_000 }, () => {
  it('is not reported for a database that was closed and opened again', async () => {
    const { folder } = await written();
    assert.equal(await historyOf(folder), undefined);
  });

  it('reports the first start as such, until it is resolved', async () => {
    const folder = newFolder();
    assert.equal(await historyOf(folder), 'new');
    const store = await LevelStore.open({ folder });
    await store.put('a', '1');
    assert.equal(store.loss?.history, 'new', 'a crash before the resolution does not hide it');
    await store.resolveLoss();
    assert.equal(store.loss, undefined);
    await store.close();
    assert.equal(await historyOf(folder), undefined);
  });

  const losses: Record<
    string,
    [history: StoreHistory, action: (folder: string, older: string) => Promise<void>]
  > = {
    'a deleted folder': ['lost', (folder) => rm(folder, { recursive: true })],
    'a log truncated to 0': ['older', async (folder) => truncate(await logOf(folder))],
    'a log truncated to 0 before its first restart': [
      'lost',
      async (folder) => {
        await rm(folder, { recursive: true });
        await rm(`${folder}.marker`);
        const store = await LevelStore.open({ folder });
        await store.put('a', '1');
        await store.close();
        await truncate(await logOf(folder));
      },
    ],
    'half a log': ['older', async (folder) => halve(await logOf(folder))],
    'a missing log': ['older', async (folder) => rm(await logOf(folder))],
    'a copy of an earlier day': ['older', replace],
    'the database of another node': [
      'replaced',
      async (folder) => replace(folder, (await written()).folder),
    ],
    'a deleted folder with its marker and no copy': [
      'new',
      async (folder) => {
        await rm(folder, { recursive: true });
        await rm(`${folder}.marker`);
      },
    ],
    'an overwritten section of the log': [
      'damaged',
      async (folder) => {
        // LevelDB continues behind a damaged block of 32 KiB.
        const store = await LevelStore.open({ folder });
        for (let at = 0; at < 40; at++) await store.put(`c/${at}`, 'x'.repeat(2000));
        await store.close();
        await overwrite(await logOf(folder), 5000, 'rubbish');
      },
    ],
  };
  for (const [title, [history, action]] of Object.entries(losses))
    it(`recognizes ${title}, at each start until it is resolved`, async () => {
      const { folder, older } = await written();
      await action(folder, older);
      assert.equal(await historyOf(folder), history);
      assert.equal(await historyOf(folder), history);
      const store = await LevelStore.open({ folder });
      await store.resolveLoss();
      await store.put('again', '1');
      await store.close();
      assert.equal(await historyOf(folder), undefined);
    });

  it('is not taken from a marker that is missing, damaged, behind, or could not be written', async () => {
    for (const change of [
      (file: string) => rm(file),
      (file: string) => writeFile(file, ''),
      (file: string) => overwrite(file, 3, 'zzz'),
      async (file: string) => {
        const { folder } = await written();
        await cp(`${folder}.marker`, file);
        await rm(file);
        // A folder in its place: every write of the marker fails.
        await cp(folder, file, { recursive: true });
      },
    ]) {
      const { folder } = await written();
      await change(`${folder}.marker`);
      assert.equal(await historyOf(folder), undefined);
      const store = await LevelStore.open({ folder });
      await store.put('again', '1');
      await store.close();
      assert.equal(await historyOf(folder), undefined);
    }
    const { folder } = await written();
    const behind = await readFile(`${folder}.marker`);
    const store = await LevelStore.open({ folder });
    await store.put('again', '1');
    await store.close();
    await writeFile(`${folder}.marker`, behind);
    assert.equal(await historyOf(folder), undefined);
  });

  it('is recognized for an older copy although the same number of batches was written since', async () => {
    const { folder, older } = await written();
    const kept = newFolder();
    await cp(folder, kept, { recursive: true });
    await replace(folder, older);
    const store = await LevelStore.open({ folder });
    await store.resolveLoss();
    for (let at = 0; at < 5; at++) await store.put(`other/${at}`, '1');
    await store.close();
    await replace(folder, kept);
    assert.equal(await historyOf(folder), 'replaced');
  });

  it('is not reported for a database that an earlier release has written last', async () => {
    const { folder } = await written();
    const database = new Level<string, string>(folder);
    const { id, sequence, ...before } = JSON.parse(await database.get('seal'));
    assert.ok(id && sequence);
    await database.put('seal', JSON.stringify(before));
    await database.close();
    assert.equal(await historyOf(folder), undefined);
    assert.equal(await historyOf(folder), undefined);
  });

  it('keeps a copy of a database that it has to repair, and starts empty if nothing helps', async () => {
    const { folder } = await written();
    await rubbish(folder);
    const store = await LevelStore.open({ folder });
    assert.equal(store.loss?.history, 'lost');
    assert.deepEqual((await store.list('')).entries, []);
    await store.put('a', '1');
    await store.close();
    assert.equal(
      await readFile(join(`${folder}.damaged`, 'CURRENT'), 'utf8'),
      'rubbish '.repeat(100),
    );
  });

  it('keeps the copy of a repair that was interrupted, and not one of what it has left', async () => {
    const { folder } = await written();
    await rubbish(folder);
    await mkdir(`${folder}.damaged.repair`);
    await writeFile(join(`${folder}.damaged.repair`, 'evidence'), 'before the repair');
    await (await LevelStore.open({ folder })).close();
    assert.deepEqual(await readdir(`${folder}.damaged`), ['evidence']);
    assert.ok(!existsSync(`${folder}.damaged.repair`));
  });

  it('leaves the last copy, and nothing of a new one, when it cannot be copied', async () => {
    const { folder } = await written();
    await rubbish(folder);
    await mkdir(`${folder}.damaged`);
    await writeFile(join(`${folder}.damaged`, 'evidence'), 'of an earlier repair');
    // no socket can be copied
    const server = createServer().listen(join(folder, 'socket'));
    await once(server, 'listening');
    await assert.rejects(LevelStore.open({ folder }), { code: 'CV_STORE_UNOPENABLE' });
    server.close();
    const copies = (await readdir(dirname(folder))).filter((name) =>
      name.startsWith(`${basename(folder)}.damaged`),
    );
    assert.deepEqual(copies, [`${basename(folder)}.damaged`]);
    assert.deepEqual(await readdir(`${folder}.damaged`), ['evidence']);
  });
});
