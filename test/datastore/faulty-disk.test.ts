/**
 * A level store on a disk that fails at every point: full, torn writes, failed syncs, loss of power,
 * syncs that are confirmed without being made. The file runs itself again with the disk's library.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { KvEntry } from '#datastore/api.ts';
import { LocalStoreLostError, LocalStoreUnavailableError } from '#datastore/disk-store.ts';
import { LevelStore } from '#datastore/level-store.ts';
import { StoreOpenError } from '#datastore/open-level.ts';
import { systemClock } from '#infra/clock/system.ts';
import {
  calls,
  EIO,
  ENOSPC,
  type Fault,
  FaultyDisk,
  type FileImage,
  runOnFaultyDisk,
} from '#test/support/faulty-disk/faulty-disk.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { declareUnless, withoutCompiler } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { Listener } from './compliance.ts';
import { type ModelWrite, StoreModel } from './store-model.ts';

const FILE = relative(process.cwd(), import.meta.filename);
const RUNS = 10_000;
/** With a few of them LevelDB writes a table. */
const LARGE = 1_500_000;
const disk = FaultyDisk.attached();

const titles = {
  random: 'loses no acknowledged write, splits no batch, and works again when the disk does',
  lying: 'recognizes that the disk has lost what it had confirmed',
  delayed: 'syncs writes within the delay, and when it is closed',
  expendable: 'starts empty in place of incomplete, and loses its watches, if it is expendable',
};

if (disk) declare(disk);
else
  await declareUnless(withoutCompiler(), 'a level store on a faulty disk', () => {
    for (const title of Object.values(titles))
      it(title, () => {
        const { status, output } = runOnFaultyDisk([
          '--test',
          '--test-isolation=none',
          `--test-name-pattern=${title}`,
          import.meta.filename,
        ]);
        assert.equal(status, 0, output);
      });
  });

interface Operation {
  readonly kind:
    | 'put'
    | 'delete'
    | 'putAll'
    | 'putIfAbsent'
    | 'swap'
    | 'swapWrong'
    | 'compareAndDelete';
  readonly keys: readonly string[];
  readonly isLarge: boolean;
}

type Step =
  | { readonly do: 'write'; readonly operations: readonly Operation[] }
  | { readonly do: 'get'; readonly key: string }
  | { readonly do: 'list' }
  | { readonly do: 'recover' }
  | { readonly do: 'restart' }
  | { readonly do: 'fail'; readonly fault: Fault }
  | { readonly do: 'crash'; readonly powerLoss: PowerLoss | undefined };

/** Else only the process ends, and all that was written stays. */
interface PowerLoss {
  /** Thousandths of the unsynced bytes of each file that are on the disk. */
  readonly kept: number;
  /** Thousandths of these that are zeros. */
  readonly zeros: number;
  /** The marker is not synced: it may be that of the start. */
  readonly isMarkerOld: boolean;
}

/** A store on the faulty disk, with its model and a watch. */
class Run {
  readonly model: StoreModel;
  readonly #disk: FaultyDisk;
  readonly #root: string;
  readonly #syncDelayMs: number;
  #folder: string;
  #copies = 0;
  #values = 0;
  #store: LevelStore | undefined;
  #watched: Map<string, string> | undefined;
  #markerAtStart: Buffer | undefined;
  /**
   * How many calls may fail. One even on a disk that has recovered: LevelDB reports an earlier failure
   * of its own, and the store learns of it then.
   */
  #toleratedFailures = 0;

  constructor(faulty: FaultyDisk, root: string, syncDelayMs: number) {
    this.#disk = faulty;
    this.#root = root;
    this.#syncDelayMs = syncDelayMs;
    this.model = new StoreModel(syncDelayMs > 0);
    this.#folder = join(root, '0');
  }

  get store(): LevelStore {
    return this.#store!;
  }

  get folder(): string {
    return this.#folder;
  }

  async start(): Promise<void> {
    mkdirSync(this.#root);
    this.#disk.syncAll();
    await this.#open();
    assert.equal(this.store.loss?.history, 'new');
    await this.store.resolveLoss();
  }

  async step(step: Step): Promise<void> {
    if (step.do === 'write') await this.write(step.operations);
    else if (step.do === 'get') await this.#get(step.key);
    else if (step.do === 'list') await this.#list();
    else if (step.do === 'fail') this.#fail(step.fault);
    else if (step.do === 'recover') this.recover();
    else if (step.do === 'restart') await this.#restart();
    else {
      await this.crash(step.powerLoss);
      if (step.powerLoss) this.model.powerLost();
      await this.#open();
      assert.equal(this.store.loss, undefined);
    }
  }

  /** Checks that every acknowledged write is there, before and after another restart. */
  async end(): Promise<void> {
    this.recover();
    while (!(await this.#list()));
    await this.#restart();
    assert.ok(await this.#list());
  }

  async close(): Promise<void> {
    this.#disk.recover();
    this.#disk.lie(false);
    await this.#store?.close();
    rmSync(this.#root, { recursive: true, force: true });
  }

  recover(): void {
    this.#disk.recover();
    this.#toleratedFailures = this.store.fault ? 0 : 1;
  }

  #fail(fault: Fault): void {
    this.#disk.fail(fault);
    this.#toleratedFailures = Number.POSITIVE_INFINITY;
  }

  /** Calls at the same time; the store carries them out in this order. */
  async write(operations: readonly Operation[]): Promise<void> {
    const writes = operations.map((operation) => this.#modelWrite(operation));
    const replies = await Promise.allSettled(writes.map((write) => write.run(this.store)));
    for (const [at, write] of writes.entries()) {
      const reply = replies[at]!;
      if (reply.status === 'fulfilled') this.model.acknowledged(write, reply.value);
      else {
        this.#tolerate(reply.reason);
        this.model.failed(write);
      }
    }
  }

  async #get(key: string): Promise<void> {
    try {
      this.model.observedValue(key, await this.store.get(key));
    } catch (thrown) {
      this.#tolerate(thrown);
    }
  }

  /** @returns whether the store could be read */
  async #list(): Promise<boolean> {
    let entries: readonly KvEntry[];
    try {
      ({ entries } = await this.store.list(''));
    } catch (thrown) {
      this.#tolerate(thrown);
      return false;
    }
    this.model.observed(entries);
    await systemClock.turn();
    if (this.#watched)
      assert.deepEqual(
        [...this.#watched].sort(),
        entries.map(({ key, value }) => [key, value]),
        'the watch has no gap',
      );
    return true;
  }

  /** Each value is written once, so that one of another write would be noticed. */
  #modelWrite({ kind, keys, isLarge }: Operation): ModelWrite {
    const [first] = keys as [string];
    // LevelDB does not sync a full log, which would lose its end and not the log after it
    const length = isLarge && this.#syncDelayMs === 0 ? LARGE : 20;
    const value = `${this.#values++}:${'x'.repeat(length)}`;
    const current = this.model.possibleValue(first) ?? 'none';
    const always = { reply: undefined, isWritten: true };
    const one = (written: string | undefined) => new Map([[first, written]]);
    if (kind === 'put')
      return { changes: one(value), expect: () => always, run: (store) => store.put(first, value) };
    if (kind === 'putAll') {
      const changes = new Map(keys.map((key, at) => [key, at === 2 ? undefined : value]));
      return { changes, expect: () => always, run: (store) => store.putAll(changes) };
    }
    if (kind === 'delete')
      return {
        changes: one(undefined),
        expect: (existing) => ({ reply: existing !== undefined, isWritten: true }),
        run: (store) => store.delete(first),
      };
    if (kind === 'putIfAbsent')
      return {
        changes: one(value),
        expect: (existing) => ({
          reply: { created: existing === undefined, value: existing ?? value },
          isWritten: existing === undefined,
        }),
        run: (store) => store.putIfAbsent(first, value),
      };
    const isDelete = kind === 'compareAndDelete';
    const expected = kind === 'swapWrong' ? 'wrong' : current;
    return {
      changes: one(isDelete ? undefined : value),
      expect: (existing) => ({ reply: existing === expected, isWritten: existing === expected }),
      run: (store) =>
        isDelete
          ? store.compareAndDelete(first, expected)
          : store.compareAndSwap(first, expected, value),
    };
  }

  #tolerate(thrown: unknown): void {
    if (!(thrown instanceof LocalStoreUnavailableError)) throw thrown;
    assert.ok(this.#toleratedFailures-- > 0, `on a disk without faults: ${thrown.message}`);
  }

  async #restart(): Promise<void> {
    await this.store.close();
    await this.#open();
    assert.equal(this.store.loss, undefined);
  }

  /** A start on a full disk may fail; after it has recovered the next one succeeds. */
  async #open(): Promise<void> {
    const options = { folder: this.#folder, syncDelayMs: this.#syncDelayMs };
    try {
      this.#store = await LevelStore.open(options);
    } catch (thrown) {
      assert.ok(thrown instanceof StoreOpenError && this.#toleratedFailures > 1, String(thrown));
      this.#disk.recover();
      this.#toleratedFailures = 0;
      this.#store = await LevelStore.open(options);
    }
    assert.equal(this.store.damage, undefined);
    this.model.synced();
    const marker = `${this.#folder}.marker`;
    this.#markerAtStart = existsSync(marker) ? readFileSync(marker) : undefined;
    await this.#watch();
  }

  async #watch(): Promise<void> {
    this.#watched = undefined;
    const snapshot = await this.store.list('').catch((thrown) => this.#tolerate(thrown));
    if (!snapshot) return;
    const watched = new Map(snapshot.entries.map(({ key, value }) => [key, value]));
    this.#watched = watched;
    this.store.watch('', snapshot.revision, {
      onChanges: (changes) => {
        for (const { key, value } of changes)
          if (value === undefined) watched.delete(key);
          else watched.set(key, value);
      },
      onLost: (reason) => {
        throw reason;
      },
    });
  }

  /** Replaces the folder by a copy of what is on the disk after a crash. */
  async crash(powerLoss: PowerLoss | undefined): Promise<void> {
    this.#disk.freeze();
    const files = this.#disk.image(this.#folder);
    const marker = `${this.#folder}.marker`;
    const lastMarker = existsSync(marker) ? readFileSync(marker) : undefined;
    await this.store.close();
    this.#disk.recover();
    this.#toleratedFailures = 0;
    this.#folder = join(this.#root, `${++this.#copies}`);
    mkdirSync(this.#folder);
    for (const file of files)
      writeFileSync(join(this.#folder, file.name), contentAfter(file, powerLoss));
    const left = powerLoss?.isMarkerOld ? this.#markerAtStart : lastMarker;
    if (left) writeFileSync(`${this.#folder}.marker`, left);
    this.#disk.syncAll();
  }
}

function contentAfter({ data, synced }: FileImage, powerLoss: PowerLoss | undefined): Buffer {
  if (!powerLoss) return data;
  const kept = Math.round(((data.length - synced) * powerLoss.kept) / 1000);
  const zeros = Math.round((kept * powerLoss.zeros) / 1000);
  const end = synced + kept;
  return Buffer.concat([data.subarray(0, end - zeros), Buffer.alloc(zeros)]);
}

const key = fc.constantFrom('a', 'b', 'c', 'd');
const operation: fc.Arbitrary<Operation> = fc.record({
  kind: fc.constantFrom(
    'put',
    'delete',
    'putAll',
    'putIfAbsent',
    'swap',
    'swapWrong',
    'compareAndDelete',
  ),
  keys: fc.uniqueArray(key, { minLength: 1, maxLength: 4 }),
  isLarge: fc.integer({ min: 0, max: 49 }).map((number) => number === 25),
});
const perMille = fc.oneof(fc.constantFrom(0, 1000), fc.integer({ min: 0, max: 1000 }));
const fault: fc.Arbitrary<Fault> = fc.record({
  calls: fc.constantFrom(
    calls.write,
    calls.sync,
    calls.write | calls.sync,
    calls.write | calls.open,
    calls.rename | calls.unlink | calls.truncate,
    0xff,
  ),
  after: fc.integer({ min: 1, max: 12 }),
  error: fc.constantFrom(ENOSPC, EIO),
  part: perMille,
  isSticky: fc.boolean(),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('write' as const),
      operations: fc.array(operation, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('get' as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('list' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('fail' as const), fault }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('recover' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      powerLoss: fc.option(
        fc.record({ kept: perMille, zeros: perMille, isMarkerOld: fc.boolean() }),
        { nil: undefined },
      ),
    }),
  },
);

function declare(faulty: FaultyDisk): void {
  let runs = 0;
  const withRun = async (action: (run: Run) => Promise<void>, syncDelayMs = 0): Promise<void> => {
    const run = new Run(faulty, join(faulty.folder, `${runs++}`), syncDelayMs);
    try {
      await run.start();
      await action(run);
    } finally {
      await run.close();
    }
  };

  describe('a level store on a faulty disk', () => {
    const random =
      'loses no acknowledged write, splits no batch, and works again when the disk does';
    it(random, async () => {
      await checkProperty(
        { file: FILE, name: titles.random },
        RUNS,
        fc.asyncProperty(
          fc.array(step, { minLength: 4, maxLength: 16 }),
          fc.constantFrom(0, 1, 60_000),
          (steps, syncDelayMs) =>
            withRun(async (run) => {
              for (const each of steps) await run.step(each);
              await run.end();
            }, syncDelayMs),
        ),
      );
    });

    it(titles.lying, async () => {
      await checkProperty(
        { file: FILE, name: titles.lying },
        100,
        fc.asyncProperty(
          fc.array(operation, { minLength: 1, maxLength: 4 }),
          fc.boolean(),
          fc.boolean(),
          (operations, isRestarted, isFailing) =>
            withRun(async (run) => {
              await run.write([put('a'), put('b')]);
              if (isRestarted) await run.step({ do: 'restart' });
              faulty.lie(true);
              await run.write([...operations, put('c')]);
              if (isFailing) await assertLossWhileRunning(faulty, run);
              else {
                // The marker is written after the acknowledgment; a stop waits for it.
                await run.store.close();
                await run.crash({ kept: 0, zeros: 0, isMarkerOld: false });
              }
              faulty.lie(false);
              const store = await LevelStore.open({ folder: run.folder });
              assert.match(store.loss?.history ?? '', /^(older|lost)$/);
              await store.close();
            }),
        ),
      );
    });

    it(titles.delayed, async () => {
      const folder = join(faulty.folder, 'delayed');
      faulty.syncAll();
      const isSynced = (): boolean =>
        faulty
          .image(folder)
          .every(({ name, data, synced }) => !name.endsWith('.log') || synced === data.length);
      let store = await LevelStore.open({ folder, syncDelayMs: 20 });
      await store.put('a', '1');
      assert.ok(!isSynced());
      await until('the write is synced', isSynced);
      await store.close();
      store = await LevelStore.open({ folder, syncDelayMs: 60_000 });
      await store.put('a', '2');
      assert.ok(!isSynced());
      await store.close();
      assert.ok(isSynced());
    });

    it(titles.expendable, async () => {
      const folder = join(faulty.folder, 'expendable');
      faulty.syncAll();
      const store = await LevelStore.open({ folder, isExpendable: true });
      await store.put('a', '1');
      const { revision } = await store.list('');
      const listener = new Listener();
      store.watch('', revision, listener);
      faulty.lie(true);
      await store.put('b', '1');
      await dropConfirmed(faulty, store);
      faulty.lie(false);
      assert.deepEqual((await store.list('')).entries, []);
      await listener.until(({ lost }) => lost.length === 1);
      const late = new Listener();
      store.watch('', revision, late);
      await late.until(({ lost }) => lost.length === 1);
      assert.notEqual(store.damage, undefined);
      await store.put('c', '1');
      assert.equal(store.fault, undefined);
      await store.close();
      const again = await LevelStore.open({ folder, isExpendable: true });
      assert.equal(again.damage, undefined);
      assert.deepEqual((await again.list('')).entries, [{ key: 'c', value: '1' }]);
      await again.close();
    });
  });
}

/** A write fails, and the disk drops what it had confirmed before. */
async function dropConfirmed(faulty: FaultyDisk, store: LevelStore): Promise<void> {
  faulty.fail({ calls: calls.write, after: 1, error: EIO, part: 0, isSticky: true });
  await assert.rejects(store.put('d', '1'), LocalStoreUnavailableError);
  for (const { name, data, synced } of faulty.image(store.folder))
    if (synced < data.length) truncateSync(join(store.folder, name), synced);
  faulty.recover();
}

/** The store detects the loss without a restart of the agent, and serves nothing. */
async function assertLossWhileRunning(faulty: FaultyDisk, run: Run): Promise<void> {
  await dropConfirmed(faulty, run.store);
  await assert.rejects(run.store.get('a'), LocalStoreLostError);
  await assert.rejects(run.store.put('a', '1'), LocalStoreLostError);
  assert.ok(run.store.fault instanceof LocalStoreLostError);
  assert.notEqual(run.store.damage, undefined);
  await run.store.close();
}

function put(k: string): Operation {
  return { kind: 'put', keys: [k], isLarge: false };
}
