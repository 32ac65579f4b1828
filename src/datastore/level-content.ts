import type { Level } from 'level';
import type { KvEntry } from './api.ts';
import { ContentChecksum, parseSeal, type Seal, sealText } from './level-seal.ts';

export type Database = Level<string, string>;
export type Batch = ReturnType<typeof newBatch>;

/** Prefix of the entries, which separates them from the seal. */
export const ENTRY_PREFIX = 'k';
const SEAL_KEY = 'seal';
/** Number of entries per read; the main thread can yield between two reads. */
export const SLICE = 256;

type Range = Pick<ReturnType<typeof rangeOf>, 'nextv' | 'close'>;

/** An open database whose content was read and compared with its seal. */
export interface LevelContent {
  readonly database: Database;
  readonly seal: Seal | undefined;
  /** Checksum of the entries that are there. */
  readonly checksum: ContentChecksum;
  /** How the entries differ from the seal; undefined: not at all. */
  readonly damage: string | undefined;
}

/** @throws errors of LevelDB */
export async function readContent(database: Database): Promise<LevelContent> {
  const seal = parseSeal(await database.get(SEAL_KEY));
  const checksum = new ContentChecksum();
  for await (const { key, value } of entries(rangeOf(database, ''), '')) checksum.add(key, value);
  const damage = ContentChecksum.damage(seal?.checksum, checksum);
  return { database, seal, checksum, damage };
}

/** Writes the seal alone, and all earlier writes that were not synced. */
export async function writeSeal(database: Database, seal: Seal): Promise<void> {
  await database.batch([{ type: 'put', key: SEAL_KEY, value: sealText(seal) }], { sync: true });
}

/** Writes a batch together with the seal of the content after it. @param sync also syncs earlier writes */
export async function writeSealed(batch: Batch, seal: Seal, sync: boolean): Promise<void> {
  await batch.put(SEAL_KEY, sealText(seal)).write({ sync });
}

/** An iterator over a snapshot, from the prefix on, or from the key after one of its keys. */
export function rangeOf(database: Database, prefix: string, after?: string) {
  return database.iterator<string, string>(
    after === undefined ? { gte: ENTRY_PREFIX + prefix } : { gt: ENTRY_PREFIX + after },
  );
}

export async function* entries(iterator: Range, prefix: string): AsyncGenerator<KvEntry> {
  try {
    for (;;) {
      const slice = await iterator.nextv(SLICE);
      if (slice.length === 0) return;
      for (const [key, value] of slice) {
        if (!key.startsWith(ENTRY_PREFIX + prefix)) return;
        yield { key: key.slice(ENTRY_PREFIX.length), value };
      }
    }
  } finally {
    await iterator.close();
  }
}

/** An empty batch. */
export function newBatch(database: Database) {
  return database.batch();
}
