/** The keys of this node: their file, and the steps by which they are replaced. */
import type { Clock, Random } from '#infra/clock/clock.ts';
import { defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { Secret } from '#models/secret.ts';
import type { WireguardKeys } from '#plugins/controller/api/ports/wireguard.ts';
import type {
  KeyReplacement,
  OwnKey,
  OwnKeys,
  OwnKeysPort,
  Slot,
} from '#plugins/controller/api/ports/wireguard-keys.ts';
import type { KeyFile, NoKeys, StoredKeys } from './key-file.ts';
import { newKeyPair, publicKeyOf } from './key-pair.ts';

type StoredKey = StoredKeys['keys'][0];

export const KeyFileError = defineError({
  name: 'KeyFileError',
  code: 'CV_WIREGUARD_KEY_FILE',
  remedy:
    'Check that the folder of the local store can be written and has space. Until then this node encrypts with the keys that it has, or reaches no node that encrypts.',
});

export interface OwnKeyStoreDeps {
  /** Name of this node. */
  readonly node: string;
  readonly file: KeyFile;
  readonly clock: Pick<Clock, 'wallTime'>;
  readonly random: Pick<Random, 'bytes'>;
  readonly log: Pick<Logger, 'error' | 'info'>;
}

/** Changes of it are called one after the other. */
export class OwnKeyStore implements WireguardKeys, OwnKeysPort {
  readonly #deps: OwnKeyStoreDeps;
  #stored: Promise<StoredKeys> | undefined;
  /** The private keys by public key, those of the first slot first. */
  #pairs: ReadonlyMap<string, Secret> = new Map();

  constructor(deps: OwnKeyStoreDeps) {
    this.#deps = deps;
  }

  privateKeyOf(publicKey: string): Secret | undefined {
    return this.#pairs.get(publicKey);
  }

  async ownKeys(): Promise<OwnKeys> {
    const { keys, replacement } = await this.#read();
    const [first = '', second = ''] = this.#pairs.keys();
    const ownKey = (publicKey: string, { made, isUnwanted = false }: StoredKey): OwnKey => ({
      publicKey,
      made,
      isUnwanted,
    });
    return {
      keys: [ownKey(first, keys[0]), ownKey(second, keys[1])],
      ...(replacement && { replacement }),
    };
  }

  /** @param replacement undefined: it has ended @throws KeyFileError */
  async setReplacement(replacement: KeyReplacement | undefined): Promise<void> {
    const { replacement: _, ...stored } = await this.#read();
    await this.#write({ ...stored, ...(replacement && { replacement }) });
  }

  /** Makes the new key of a slot. @throws KeyFileError */
  async replace(slot: Slot): Promise<void> {
    const { keys, ...stored } = await this.#read();
    const [first, second] = keys;
    const made = this.#newKey();
    await this.#write({
      ...stored,
      keys: slot === 0 ? [made, second] : [first, made],
      replacement: { slot, isNew: true },
    });
  }

  /** Lets all keys be replaced that this node has now. @throws KeyFileError */
  async requestReplacement(): Promise<void> {
    const { keys, ...stored } = await this.#read();
    const [first, second] = keys;
    const unwanted = (key: StoredKey): StoredKey => ({ ...key, isUnwanted: true });
    await this.#write({ ...stored, keys: [unwanted(first), unwanted(second)] });
  }

  async #read(): Promise<StoredKeys> {
    this.#stored ??= this.#readFile();
    try {
      return await this.#stored;
    } catch (thrown) {
      // the next call reads it again
      this.#stored = undefined;
      throw thrown;
    }
  }

  async #readFile(): Promise<StoredKeys> {
    const { file, node, log } = this.#deps;
    let found: StoredKeys | NoKeys;
    try {
      found = await file.read();
    } catch (cause) {
      throw new KeyFileError(`cannot read the keys of this node: ${errorText(cause)}`, { cause });
    }
    const usable = usableKeys(found, node);
    if ('pairs' in usable) {
      this.#pairs = usable.pairs;
      return usable.stored;
    }
    log.info(usable, 'no keys of WireGuard on the disk: making new ones');
    const made: StoredKeys = { node, keys: [this.#newKey(), this.#newKey()] };
    await this.#save(made);
    return made;
  }

  async #write(stored: StoredKeys): Promise<void> {
    await this.#save(stored);
    this.#stored = Promise.resolve(stored);
  }

  async #save(stored: StoredKeys): Promise<void> {
    try {
      await this.#deps.file.write(stored);
    } catch (cause) {
      throw new KeyFileError(`cannot write the keys of this node: ${errorText(cause)}`, { cause });
    }
    this.#pairs = pairsOf(stored) ?? new Map();
  }

  #newKey(): StoredKey {
    const { privateKey } = newKeyPair(this.#deps.random);
    return { privateKey, made: this.#deps.clock.wallTime() };
  }
}

interface UsableKeys {
  readonly stored: StoredKeys;
  readonly pairs: ReadonlyMap<string, Secret>;
}

/** Keys on the disk, unless they are those of another node, or none. */
function usableKeys(found: StoredKeys | NoKeys, node: string): UsableKeys | NoKeys {
  if (!('keys' in found)) return found;
  if (found.node !== node) return { reason: `they are those of node ${found.node}` };
  const pairs = pairsOf(found);
  return pairs ? { stored: found, pairs } : { reason: 'the file has no keys' };
}

/** undefined: a text is no key, or both are the same one. */
function pairsOf({ keys }: StoredKeys): ReadonlyMap<string, Secret> | undefined {
  try {
    const pairs = new Map(
      keys.map(({ privateKey }) => [publicKeyOf(privateKey), new Secret(privateKey)] as const),
    );
    return pairs.size === keys.length ? pairs : undefined;
  } catch {
    return undefined;
  }
}
