import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import type { KvStore } from '#datastore/api.ts';
import { LevelStore } from '#datastore/level-store.ts';
import { StoreLockedError, StoreOpenError } from '#datastore/open-level.ts';
import { systemClock } from '#infra/clock/system.ts';
import type { CodedError } from '#infra/errors/errors.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import { compliance, Listener } from './compliance.ts';

const root = await mkdtemp(join(tmpdir(), 'level-'));
after(() => rm(root, { recursive: true }));
let folders = 0;
const newFolder = () => join(root, `${folders++}`);

compliance('level', async () => {
  const opened: LevelStore[] = [];
  return {
    open: async () => {
      const store = await LevelStore.open({ folder: newFolder() });
      opened.push(store);
      return store;
    },
    close: async () => {
      for (const store of opened) await store.close();
    },
  };
});

/** A database of a thousand entries, closed. */
async function filled(): Promise<string> {
  const folder = newFolder();
  const store = await LevelStore.open({ folder });
  for (let at = 0; at < 200; at++)
    await store.putAll(
      new Map(Array.from({ length: 5 }, (_, part) => [`key/${at}/${part}`, `value ${at}`])),
    );
  await store.close();
  return folder;
}

async function fileOf(folder: string, pattern: RegExp): Promise<string> {
  const names = (await readdir(folder)).filter((name) => pattern.test(name)).sort();
  return join(folder, names.at(-1)!);
}

async function overwrite(file: string, position: number, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.write(bytes, 0, bytes.length, position);
  await handle.close();
}

async function countOf(store: KvStore): Promise<number> {
  return (await store.list('')).entries.length;
}

describe('LevelStore', { timeout: 60_000 }, () => {
  it('is not opened where its folder cannot be created', async () => {
    await assert.rejects(LevelStore.open({ folder: '/proc/contiv/db' }), (error) => {
      assert.ok(error instanceof StoreOpenError);
      assert.match(error.message, /^\/proc\/contiv\/db: cannot create \/proc\/contiv:/);
      return true;
    });
  });

  it('contains all entries after it is reopened', async () => {
    const folder = await filled();
    const store = await LevelStore.open({ folder });
    assert.equal(store.damage, undefined);
    assert.equal(await countOf(store), 1000);
    assert.equal(await store.get('key/7/3'), 'value 7');
    await store.close();
  });

  it('accepts no revision from before it was reopened', async () => {
    const folder = await filled();
    const first = await LevelStore.open({ folder });
    const { revision } = await first.list('');
    await first.close();
    const second = await LevelStore.open({ folder });
    const listener = new Listener();
    second.watch('', revision, listener);
    await listener.until(({ lost }) => lost.length === 1);
    await second.close();
  });

  for (const [title, damage] of Object.entries({
    'an empty CURRENT': async (folder: string) => truncate(join(folder, 'CURRENT')),
    'a CURRENT of rubbish': async (folder: string) => writeFile(join(folder, 'CURRENT'), 'x\n'),
    'an empty manifest': async (folder: string) => truncate(await fileOf(folder, /^MANIFEST/)),
    'no manifest': async (folder: string) => rm(await fileOf(folder, /^MANIFEST/)),
  }))
    it(`repairs ${title}`, async () => {
      const folder = await filled();
      await damage(folder);
      const store = await LevelStore.open({ folder });
      assert.equal(store.damage, undefined);
      assert.equal(await countOf(store), 1000);
      await store.close();
    });

  it('detects entries that the log has lost: discards all of an expendable database, serves the others', async () => {
    const folder = await filled();
    const log = await fileOf(folder, /\.log$/);
    await overwrite(log, 20_000, new Uint8Array(5000));
    const kept = await LevelStore.open({ folder });
    assert.match(kept.damage ?? '', /^found \d+ entries, expected 1000$/);
    const left = await countOf(kept);
    assert.ok(left > 0 && left < 1000);
    await kept.close();
    const again = await LevelStore.open({ folder });
    assert.equal(again.damage, undefined, 'said once');
    assert.equal(await countOf(again), left);
    await again.close();

    const other = await filled();
    await overwrite(await fileOf(other, /\.log$/), 20_000, new Uint8Array(5000));
    const store = await LevelStore.open({ folder: other, isExpendable: true });
    assert.notEqual(store.damage, undefined);
    assert.equal(store.loss, undefined, 'another source has the content');
    assert.equal(await countOf(store), 0);
    await store.put('a', '1');
    await store.close();
    const next = await LevelStore.open({ folder: other, isExpendable: true });
    assert.equal(next.damage, undefined);
    assert.equal(await countOf(next), 1);
    await next.close();
  });

  it('detects that a lost section of the log restored old values', async () => {
    const folder = newFolder();
    const store = await LevelStore.open({ folder });
    const sizes: number[] = [];
    for (const round of ['old', 'new', 'end']) {
      for (let at = 0; at < 40; at++)
        await store.put(round === 'end' ? 'end' : `key/${at}`, round + 'x'.repeat(2000));
      const handle = await open(await fileOf(folder, /\.log$/));
      sizes.push((await handle.stat()).size);
      await handle.close();
    }
    await store.close();
    // LevelDB continues with the next block of 32 KiB, so all keys stay, some with the previous value.
    await overwrite(await fileOf(folder, /\.log$/), sizes[0]! + 10_000, new Uint8Array(2000));
    const damaged = await LevelStore.open({ folder });
    assert.equal(await countOf(damaged), 41);
    assert.equal(damaged.damage, 'entries differ from the values last written');
    await damaged.close();
  });

  it('starts empty when it is expendable and cannot be repaired', async () => {
    const folder = await filled();
    for (const name of await readdir(folder))
      if (!/^(LOCK|LOG)/.test(name)) await writeFile(join(folder, name), 'rubbish '.repeat(100));
    const mirror = await LevelStore.open({ folder, isExpendable: true });
    assert.equal(await countOf(mirror), 0);
    await mirror.put('a', '1');
    await mirror.close();
  });

  it('rejects a database that another process has open', async () => {
    const folder = await filled();
    const store = await LevelStore.open({ folder });
    await assert.rejects(LevelStore.open({ folder, isExpendable: true }), (error: CodedError) => {
      assert.ok(error instanceof StoreLockedError);
      assert.match(error.message, /another process has it open/);
      assert.equal(error.where, folder);
      return true;
    });
    assert.equal(await countOf(store), 1000);
    await store.put('a', '1');
    await store.close();
  });

  it('waits for another process that closes the database in time', async () => {
    const folder = newFolder();
    const first = await LevelStore.open({ folder });
    await first.put('a', '1');
    const lockWait = { clock: systemClock, limitMs: 60_000 };
    const second = LevelStore.open({ folder, lockWait });
    await systemClock.sleep(150);
    await first.close();
    assert.equal(await (await second).get('a'), '1');
    await (await second).close();
  });

  it('reports the reason when the folder cannot be created', async () => {
    const file = newFolder();
    await writeFile(file, 'a file');
    for (const folder of [file, join(file, 'below')])
      await assert.rejects(LevelStore.open({ folder, isExpendable: true }), StoreOpenError);
  });

  it('writes what waits for an earlier write in one batch, each write after the one before it', async () => {
    const folder = newFolder();
    const store = await LevelStore.open({ folder });
    const results = await Promise.all([
      store.put('a', '1'),
      store.putIfAbsent('a', '2'),
      store.putIfAbsent('b', '3'),
      store.compareAndSwap('b', '3', '4'),
      store.putAll(new Map()),
      store.delete('a'),
      store.compareAndDelete('c', 'x'),
      store.putIfAbsent('a', '5'),
    ]);
    assert.deepEqual(results, [
      undefined,
      { created: false, value: '1' },
      { created: true, value: '3' },
      true,
      undefined,
      true,
      false,
      { created: true, value: '5' },
    ]);
    await store.close();
    const [, batches] = (await readFile(`${folder}.marker`, 'utf8')).split(' ');
    assert.equal(Number(batches), 1);
    const again = await LevelStore.open({ folder });
    assert.equal(again.damage, undefined);
    assert.deepEqual((await again.list('')).entries, [
      { key: 'a', value: '5' },
      { key: 'b', value: '4' },
    ]);
    await again.close();
  });

  it('completes earlier writes before it closes', async () => {
    const folder = newFolder();
    const store = await LevelStore.open({ folder });
    const writes = Array.from({ length: 50 }, (_, at) => store.put(`key/${at}`, `${at}`));
    await Promise.all([...writes, store.close()]);
    const again = await LevelStore.open({ folder });
    assert.equal(await countOf(again), 50);
    await again.close();
  });

  it('loses no acknowledged write and splits no batch when the process is killed', async () => {
    const folder = newFolder();
    for (let round = 0; round < 3; round++) {
      const writer = spawn(
        process.execPath,
        [join(import.meta.dirname, 'level-writer.ts'), folder, `${round}`],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      let acknowledged = -1;
      let text = '';
      for await (const chunk of writer.stdout) {
        text += chunk;
        const lines = text.split('\n');
        text = lines.pop()!;
        acknowledged = Number(lines.at(-1) ?? acknowledged);
        if (acknowledged > 100) writer.kill('SIGKILL');
      }
      if (writer.exitCode === null && writer.signalCode === null) await once(writer, 'exit');
      assert.equal(writer.signalCode, 'SIGKILL');
      const store = await LevelStore.open({ folder });
      assert.equal(store.damage, undefined);
      const { entries } = await store.list(`${round}/`);
      const values = new Set(entries.map(({ value }) => value));
      assert.equal(entries.length, 3);
      assert.equal(values.size, 1, 'one batch is there as a whole');
      assert.ok(Number([...values][0]) >= acknowledged);
      await store.close();
    }
  });
});

type Step = (store: KvStore) => Promise<unknown>;

const key = fc.constantFrom('a', 'a/b', 'a/b/c', 'b', 'ä', '😀', '\uffee');
const value = fc.constantFrom('', '0', '1', '2');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(key, value).map(
    ([k, v]): Step =>
      (store) =>
        store.put(k, v),
  ),
  fc.tuple(key, value).map(
    ([k, v]): Step =>
      (store) =>
        store.putIfAbsent(k, v),
  ),
  fc.tuple(key, value, value).map(
    ([k, x, v]): Step =>
      (store) =>
        store.compareAndSwap(k, x, v),
  ),
  fc.tuple(key, value).map(
    ([k, x]): Step =>
      (store) =>
        store.compareAndDelete(k, x),
  ),
  key.map(
    (k): Step =>
      (store) =>
        store.delete(k),
  ),
  key.map(
    (k): Step =>
      (store) =>
        store.get(k),
  ),
  key.map(
    (k): Step =>
      async (store) =>
        (await store.list(k)).entries,
  ),
  fc.array(fc.tuple(key, fc.option(value, { nil: undefined })), { maxLength: 4 }).map(
    (all): Step =>
      (store) =>
        store.putAll(new Map(all)),
  ),
);

describe('memory and level', () => {
  it('agree on every reply, on the content and on the changes of a watch', async () => {
    const level = await LevelStore.open({ folder: newFolder() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        const memory = new MemoryStore();
        const old = (await level.list('')).entries;
        await level.putAll(new Map(old.map((entry) => [entry.key, undefined])));
        const [one, two] = [new Listener(), new Listener()];
        const watches = [
          memory.watch('a', (await memory.list('a')).revision, one),
          level.watch('a', (await level.list('a')).revision, two),
        ];
        for (const run of steps) assert.deepEqual(await run(level), await run(memory));
        assert.deepEqual((await level.list('')).entries, (await memory.list('')).entries);
        await new Promise((resolve) => setImmediate(resolve));
        for (const watch of watches) watch.close();
        assert.deepEqual(two.texts, one.texts);
      }),
      { numRuns: 150 },
    );
    await level.close();
  });

  it('agree when level is closed and reopened in between', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
        const folder = newFolder();
        const memory = new MemoryStore();
        for (const part of [steps.slice(0, 5), steps.slice(5)]) {
          const level = await LevelStore.open({ folder, isExpendable: true });
          assert.equal(level.damage, undefined);
          for (const run of part) assert.deepEqual(await run(level), await run(memory));
          assert.deepEqual((await level.list('')).entries, (await memory.list('')).entries);
          await level.close();
        }
      }),
      { numRuns: 20 },
    );
  });
});
