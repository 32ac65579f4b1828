/** Reads a database of the agent, which may be running and has it open: a copy of the files is read. */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { LevelStore } from '#datastore/level-store.ts';
import type { Random } from '#infra/clock/clock.ts';
import { silentLogger } from '#infra/log/log.ts';

/** The agent may delete a file while it is copied. */
const ATTEMPTS = 3;

/**
 * @returns the values of the keys with one of the prefixes
 * @throws errors of the file system, among them ENOENT for a missing folder, and StoreOpenError
 */
export async function readStoreCopy(
  folder: string,
  prefixes: readonly string[],
  random: Random,
): Promise<ReadonlyMap<string, string>> {
  const parent = await mkdtemp(join(tmpdir(), 'contiv-init-'));
  const copy = join(parent, 'store');
  try {
    await copyFolder(folder, copy);
    // Expendable: damage that comes from copying is repaired without another copy.
    const options = { folder: copy, log: silentLogger, isExpendable: true, random };
    const store = await LevelStore.open(options);
    const found = new Map<string, string>();
    try {
      for (const prefix of prefixes)
        for (const { key, value } of (await store.list(prefix)).entries) found.set(key, value);
    } finally {
      await store.close();
    }
    return found;
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await cp(from, to, { recursive: true, filter: (path) => basename(path) !== 'LOCK' });
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await rm(to, { recursive: true, force: true });
    }
  }
}
