/**
 * The file with the private keys of this node, beside its local store: nothing else on the disk has them, so that no copy of
 * the store, record or report does. Only root reads it. A write is complete, or the file is that of before.
 */
import { type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Static, Type } from 'typebox';
import Value from 'typebox/value';
import { createFolder } from '#infra/files/folder.ts';

const SLOT = Type.Union([Type.Literal(0), Type.Literal(1)]);
const storedKey = Type.Object({
  /** Base64. */
  privateKey: Type.String(),
  made: Type.Number(),
});

const storedKeys = Type.Object({
  keys: Type.Tuple([storedKey, storedKey]),
  replacement: Type.Optional(Type.Object({ slot: SLOT, isNew: Type.Boolean() })),
  replaceBefore: Type.Number(),
});

export type StoredKeys = Static<typeof storedKeys>;

export interface KeyFile {
  /**
   * @returns undefined: there is no file, or it has no keys
   * @throws the error of the system
   */
  read(): Promise<StoredKeys | undefined>;
  /** @throws the error of the system: the file is that of before, or the new one */
  write(keys: StoredKeys): Promise<void>;
}

/** Of an embedded agent, whose VPP does not survive it. */
export function keysInMemory(): KeyFile {
  let stored: StoredKeys | undefined;
  return {
    read: async () => stored,
    write: async (keys) => {
      stored = keys;
    },
  };
}

export function keyFile(path: string): KeyFile {
  return {
    read: async () => {
      let text: string;
      try {
        text = await readFile(path, 'utf8');
      } catch (thrown) {
        if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw thrown;
      }
      return parsed(text);
    },
    write: async (keys) => {
      createFolder(dirname(path));
      const next = `${path}.new`;
      await synced(await open(next, 'w', 0o600), async (handle) => {
        // one that a crash left may have other rights
        await handle.chmod(0o600);
        await handle.writeFile(JSON.stringify(keys));
      });
      await rename(next, path);
      await synced(await open(dirname(path), 'r'), async () => undefined);
    },
  };
}

async function synced(
  handle: FileHandle,
  work: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  try {
    await work(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function parsed(text: string): StoredKeys | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(storedKeys, value) ? value : undefined;
  } catch {
    return undefined;
  }
}
