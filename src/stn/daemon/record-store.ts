/**
 * The records on the disk, one file for each NIC. A file is replaced as a whole, so that a crash leaves the
 * old record or the new one.
 */
import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Value } from 'typebox/value';
import { defineError, errorText } from '#infra/errors/errors.ts';
import { createFolder } from '#infra/files/folder.ts';
import type { Logger } from '#infra/log/log.ts';
import { type NicRecord, nicRecordSchema } from './nic-record.ts';

export const StnStateError = defineError({
  name: 'StnStateError',
  code: 'CV_STN_STATE',
  isRetriable: true,
  remedy: 'Check the folder of --state-dir: free space, errors of the file system, permission.',
});

export interface RecordStore {
  /** A file that is not a record is left as it is, and logged. @throws StnStateError */
  load(): Promise<readonly NicRecord[]>;
  /** The record is on the disk when it resolves. @throws StnStateError */
  save(record: NicRecord): Promise<void>;
  /** @throws StnStateError */
  remove(name: string): Promise<void>;
}

const SUFFIX = '.json';

export function diskRecordStore(folder: string, log: Logger): RecordStore {
  const path = (name: string): string => join(folder, `${name}${SUFFIX}`);
  const failing = async <T>(what: string, name: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      throw new StnStateError(`cannot ${what}: ${errorText(cause)}`, { where: path(name), cause });
    }
  };
  return {
    load: async () => {
      createStateFolder(folder);
      return failing('read the records', '*', async () => {
        const names = (await readdir(folder)).filter((name) => name.endsWith(SUFFIX)).sort();
        const found = await Promise.all(names.map((name) => readRecord(join(folder, name), log)));
        return found.flatMap((record) => record ?? []);
      });
    },
    save: (record) =>
      failing('write the record', record.name, async () => {
        const partial = `${path(record.name)}.new`;
        const file = await open(partial, 'w', 0o600);
        try {
          await file.writeFile(`${JSON.stringify(record, undefined, 2)}\n`);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(partial, path(record.name));
        await syncFolder(folder);
      }),
    remove: (name) =>
      failing('remove the record', name, async () => {
        await rm(path(name), { force: true });
        await syncFolder(folder);
      }),
  };
}

/** @throws StnStateError */
function createStateFolder(folder: string): void {
  try {
    createFolder(folder, 0o700);
  } catch (cause) {
    throw new StnStateError(`cannot create the folder of the records: ${errorText(cause)}`, {
      where: folder,
      cause,
    });
  }
}

async function readRecord(path: string, log: Logger): Promise<NicRecord | undefined> {
  try {
    const record: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (Value.Check(nicRecordSchema, record)) return record;
    throw new Error('it does not have the form of a record');
  } catch (error) {
    log.error({ path, err: error }, 'ignoring the file: it is not the record of a NIC');
    return undefined;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
