import { isDeepStrictEqual } from 'node:util';
import type { KvEntry } from '#datastore/api.ts';
import { SharedMap } from '#infra/collections/shared-map.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { FieldError } from '#models/field-error.ts';
import { closedValue, decode, type KeySpace, type WatchedKey } from './key-space.ts';

export interface LastKnownEntry {
  readonly watchedKey: WatchedKey;
  /** Text in the store. */
  readonly text: string;
  /** Value that the event loop has: the last valid value, or the closed form of an invalid one; undefined: none. */
  readonly value: object | undefined;
  /** Text of that value. */
  readonly validText: string | undefined;
}

/** Fields of a value that this agent does not know. */
export interface UnknownFields {
  /** Keyword of the resource, or `external config`. */
  readonly resource: string;
  readonly names: readonly string[];
}

/** A value of external configuration, as its writer sees it. */
export interface ExternalValue {
  /** Without the prefix of the agent. */
  readonly key: string;
  /** Why the current value is ignored; undefined: it is valid. */
  readonly invalid: InvalidValue | undefined;
  /** Fields that are ignored. */
  readonly unknownFields: readonly string[];
}

/** The values of external configuration, the invalid ones, too; keys without the prefix of the agent. */
export interface ExternalValues {
  keys(): Iterable<string>;
  get(key: string): ExternalValue | undefined;
}

export interface InvalidValue {
  readonly reason: string;
  /** Path of the invalid field, if it is known. */
  readonly field: string | undefined;
  /** The last valid value stays in use. */
  readonly isPreviousInUse: boolean;
}

export interface Difference {
  readonly watchedKey: WatchedKey;
  readonly previous: object | undefined;
  readonly current: object | undefined;
}

/** A change in the store that the event loop has not accepted yet. */
export interface PendingChange {
  /** Change of the value; undefined: no event is needed. */
  readonly difference: Difference | undefined;
  /** Must be called when the event loop has accepted the event. */
  accept(): void;
}

/** Keys that one etcd returns in a millisecond, to all agents together. */
const KEYS_OF_ETCD = 100;
/** However large the cluster is, no agent works longer on what it knew. */
const MAX_READ_ALL_MS = 60_000;

/** State of the store that the event loop has received; the source of `previous` in events. */
export class LastKnownState {
  readonly #keySpace: KeySpace;
  readonly #log: Logger;
  readonly #entries = new Map<string, LastKnownEntry>();
  readonly #broken = new SharedMap<string, string>();
  readonly #unknownFields = new SharedMap<string, UnknownFields>();
  /** Keys in the store of external configuration, by those without the prefix of the agent. */
  readonly #externalKeys = new Map<string, string>();
  readonly #invalidFields = new Map<string, string>();

  constructor(keySpace: KeySpace, log: Logger) {
    this.#keySpace = keySpace;
    this.#log = log;
  }

  get broken(): ReadonlyMap<string, string> {
    return this.#broken.view;
  }

  /** Valid values with fields that this agent does not know, which are ignored. */
  get unknownFields(): ReadonlyMap<string, UnknownFields> {
    return this.#unknownFields.view;
  }

  get hasReflectedState(): boolean {
    for (const { watchedKey } of this.#entries.values()) if (watchedKey.reflected) return true;
    return false;
  }

  /** How long one etcd takes to answer the agents of all nodes when they read all at once. */
  get readAllMs(): number {
    let nodes = 0;
    for (const { watchedKey } of this.#entries.values())
      if (watchedKey.resource === resources.vppnode.keyword) nodes++;
    return Math.min(MAX_READ_ALL_MS, (nodes * this.#entries.size) / KEYS_OF_ETCD);
  }

  get externalValues(): ExternalValues {
    return {
      keys: () => this.#externalKeys.keys(),
      get: (key) => this.#externalValue(key),
    };
  }

  /** Adds an entry of a snapshot; undefined if the key is not watched. */
  add({ key, value: text }: KvEntry): LastKnownEntry | undefined {
    const watchedKey = this.#keySpace.find(key);
    if (!watchedKey) return undefined;
    const value = this.#decode(watchedKey, key, text);
    const entry = { watchedKey, text, value, validText: value && text };
    this.#set(key, entry);
    return entry;
  }

  /** Keeps the last valid value of a key whose value in a snapshot is invalid. */
  keepLastValid(key: string, { value, validText }: LastKnownEntry): LastKnownEntry | undefined {
    const entry = this.#entries.get(key);
    if (!entry || entry.value !== undefined) return undefined;
    const kept = { ...entry, value, validText };
    this.#entries.set(key, kept);
    return kept;
  }

  /** @param text current text of the key; undefined: it was deleted */
  prepareChange(key: string, text: string | undefined): PendingChange {
    const watchedKey = this.#keySpace.find(key);
    const entry = this.#entries.get(key);
    const nothing: PendingChange = { difference: undefined, accept: () => undefined };
    // The second case is a change that a snapshot included already.
    if (!watchedKey || entry?.text === text) return nothing;
    const previous = entry?.value;
    if (text === undefined) {
      return {
        difference: previous && { watchedKey, previous, current: undefined },
        accept: () => {
          this.#entries.delete(key);
          if (watchedKey.resource === undefined) this.#externalKeys.delete(watchedKey.key);
          this.#invalidFields.delete(key);
          this.#broken.delete(key);
          this.#unknownFields.delete(key);
        },
      };
    }
    const decoded = this.#decode(watchedKey, key, text);
    const differs = decoded !== undefined && !isDeepStrictEqual(decoded, previous);
    return {
      difference: differs ? { watchedKey, previous, current: decoded } : undefined,
      // An invalid value without a closed form changes nothing: the event loop keeps the last valid one.
      accept: () =>
        this.#set(key, {
          watchedKey,
          text,
          value: decoded ?? previous,
          validText: decoded ? text : entry?.validText,
        }),
    };
  }

  /** Last known text of a key. */
  text(key: string): string | undefined {
    return this.#entries.get(key)?.text;
  }

  keys(): Iterable<string> {
    return this.#entries.keys();
  }

  /** The entries with a value. */
  *entries(): Iterable<readonly [string, LastKnownEntry]> {
    for (const entry of this.#entries) if (entry[1].value !== undefined) yield entry;
  }

  get(key: string): LastKnownEntry | undefined {
    return this.#entries.get(key);
  }

  /** Keys and texts of the last valid values. */
  *validTexts(): Iterable<readonly [string, string]> {
    for (const [key, { validText }] of this.#entries)
      if (validText !== undefined) yield [key, validText];
  }

  #externalValue(key: string): ExternalValue | undefined {
    const fullKey = this.#externalKeys.get(key);
    const entry = fullKey === undefined ? undefined : this.#entries.get(fullKey);
    if (fullKey === undefined || !entry) return undefined;
    const reason = this.#broken.get(fullKey);
    return {
      key,
      invalid:
        reason === undefined
          ? undefined
          : {
              reason: withoutKey(reason, fullKey),
              field: this.#invalidFields.get(fullKey),
              isPreviousInUse: entry.value !== undefined,
            },
      unknownFields: this.#unknownFields.get(fullKey)?.names ?? [],
    };
  }

  #set(key: string, entry: LastKnownEntry): void {
    this.#entries.set(key, entry);
    const { resource, key: shortKey } = entry.watchedKey;
    if (resource === undefined) this.#externalKeys.set(shortKey, key);
  }

  #decode(watchedKey: WatchedKey, key: string, text: string): object | undefined {
    try {
      const { value, unknownFields } = decode(watchedKey, key, text);
      this.#broken.delete(key);
      this.#invalidFields.delete(key);
      if (unknownFields.length === 0) this.#unknownFields.delete(key);
      else
        this.#unknownFields.set(key, {
          resource: watchedKey.resource ?? 'external config',
          names: [...new Set(unknownFields)],
        });
      return value;
    } catch (thrown) {
      const reason = errorText(thrown);
      const closed = closedValue(watchedKey, reason, text);
      if (this.#broken.get(key) !== reason)
        this.#log.warn(
          { key, reason },
          closed
            ? 'invalid value in the datastore: it permits nothing'
            : 'ignoring invalid value in the datastore',
        );
      this.#broken.set(key, reason);
      const field = invalidField(thrown);
      if (field === undefined) this.#invalidFields.delete(key);
      else this.#invalidFields.set(key, field);
      return closed;
    }
  }
}

function invalidField(thrown: unknown): string | undefined {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return cause instanceof FieldError && cause.path !== '' ? cause.path : undefined;
}

/** The status of a value is beside its key. */
function withoutKey(reason: string, key: string): string {
  return reason.startsWith(`${key}: `) ? reason.slice(key.length + 2) : reason;
}
