/**
 * The file with the private keys of this node, beside its local store: nothing else on the disk has them, so that no copy of
 * the store, record or report does. Only root reads it: keys that others could read are no secret any more. A write is
 * complete, or the file is that of before.
 */
import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Static, Type } from 'typebox';
import Value from 'typebox/value';
import { createFolder } from '#infra/files/folder.ts';

const SLOT = Type.Union([Type.Literal(0), Type.Literal(1)]);
const storedKey = Type.Object({
  /** Base64. */
  privateKey: Type.String(),
  made: Type.Number(),
  isUnwanted: Type.Optional(Type.Boolean()),
});

const storedKeys = Type.Object({
  keys: Type.Tuple([storedKey, storedKey]),
  replacement: Type.Optional(Type.Object({ slot: SLOT, isNew: Type.Boolean() })),
  /** A copy of the disk of a node may be that of another one: two with the same keys would take each other's packets. */
  node: Type.String(),
});

/** Rights of the group and of all others. */
const OTHERS = 0o077;

const noFile = { reason: 'there is no file' };

export type StoredKeys = Static<typeof storedKeys>;

/** Why a file has no keys that can be used. */
export interface NoKeys {
  readonly reason: string;
}

export interface KeyFile {
  /** @throws the error of the system */
  read(): Promise<StoredKeys | NoKeys>;
  /** @throws the error of the system: the file is that of before, or the new one */
  write(keys: StoredKeys): Promise<void>;
}

/** Of an embedded agent, whose VPP does not survive it. */
export function keysInMemory(): KeyFile {
  let stored: StoredKeys | NoKeys = noFile;
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
      try {
        await using handle = await open(path, 'r');
        const { mode } = await handle.stat();
        if ((mode & OTHERS) !== 0) return { reason: 'others than root can read the file' };
        return parsed(await handle.readFile('utf8'));
      } catch (thrown) {
        if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return noFile;
        throw thrown;
      }
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

function parsed(text: string): StoredKeys | NoKeys {
  try {
    const value: unknown = JSON.parse(text);
    if (Value.Check(storedKeys, value)) return value;
  } catch {
    // cut off
  }
  return { reason: 'the file has no keys' };
}
