import {
  type AnyResource,
  type ClosedForm,
  parseResourceKey,
  REFLECTOR_PREFIX,
  resources,
} from '#kubernetes/resources/resources.ts';
import { externalKey } from '#models/external-value.ts';
import type { ParsedMessage } from '#models/message.ts';
import { InvalidModelError } from '#models/model.ts';
import { modelOfKey } from '#models/registry.ts';

/** External configuration, below the prefix of the agent. */
const CONFIG = 'config/';
/** Prefix of records of the reflector; the other records below its prefix are written by agents. */
const REFLECTED = 'k8s/';

interface Parser {
  parseKnown(input: unknown, where?: string): ParsedMessage<object>;
  key(value: object): string;
}

/** Meaning of a watched key in the store. */
export interface WatchedKey {
  /** Keyword of the resource; undefined for external configuration. */
  readonly resource: string | undefined;
  /** The key in events: without the prefix of the reflector or agent. */
  readonly key: string;
  /** Written by the reflector. */
  readonly reflected: boolean;
  /** undefined: no model has this key. */
  readonly model: Parser | undefined;
}

/** The watched keys of the store. */
export class KeySpace {
  /** Prefixes of all watched keys. */
  readonly prefixes: readonly string[];
  readonly #agentPrefix: string;

  /** @param agentPrefix for example `/vnf-agent/<label>/` */
  constructor(agentPrefix: string) {
    this.#agentPrefix = agentPrefix;
    this.prefixes = [REFLECTOR_PREFIX, agentPrefix + CONFIG];
  }

  /** Whether the key belongs to external configuration. */
  isExternal(fullKey: string): boolean {
    return fullKey.startsWith(this.#agentPrefix + CONFIG);
  }

  /** undefined for a key that is not watched. */
  find(fullKey: string): WatchedKey | undefined {
    if (fullKey.startsWith(REFLECTOR_PREFIX)) {
      const key = fullKey.slice(REFLECTOR_PREFIX.length);
      const resource = parseResourceKey(key)?.resource;
      if (!resource) return undefined;
      const reflected = key.startsWith(REFLECTED);
      return { resource: resource.keyword, key, reflected, model: resource.model };
    }
    if (!this.isExternal(fullKey)) return undefined;
    const key = fullKey.slice(this.#agentPrefix.length);
    return { resource: undefined, key, reflected: false, model: modelOfKey(key) };
  }
}

/**
 * The canonical value of a text in the store, and the names of fields that its writer knows and this
 * agent does not: the writer may be newer.
 * @throws InvalidModelError, SyntaxError
 */
export function decode(
  watchedKey: WatchedKey,
  fullKey: string,
  text: string,
): ParsedMessage<object> {
  if (!watchedKey.model) throw new InvalidModelError('no model has this key', { where: fullKey });
  const raw: unknown = JSON.parse(text);
  const parsed = watchedKey.model.parseKnown(raw, fullKey);
  if (watchedKey.resource !== undefined) {
    const [name] = parsed.unknownFields;
    if (name !== undefined && closedFormOf(watchedKey)?.isReadable(raw as object) === false)
      throw new InvalidModelError(`${name}: no such field`, { where: fullKey });
    return parsed;
  }
  const ownKey = externalKey(watchedKey.model, parsed.value, fullKey);
  if (ownKey !== watchedKey.key) throw wrongKey(ownKey, fullKey);
  return parsed;
}

/** The value in place of a text that cannot be decoded; undefined: it is ignored. */
export function closedValue(
  watchedKey: WatchedKey,
  reason: string,
  text: string,
): object | undefined {
  const names = resourceOf(watchedKey)?.parseKey(watchedKey.key);
  return names && closedFormOf(watchedKey)?.value(names, reason, jsonOf(text));
}

function resourceOf({ resource }: WatchedKey): AnyResource | undefined {
  return resource === undefined ? undefined : resources[resource as keyof typeof resources];
}

function closedFormOf(watchedKey: WatchedKey): ClosedForm<object> | undefined {
  return resourceOf(watchedKey)?.closed;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Two values of one object would replace each other, and a value with another key than its own would be
 * created again by each resync, which finds the object under its own key.
 */
function wrongKey(ownKey: string, fullKey: string): Error {
  return new InvalidModelError(`the key of this value is ${ownKey}`, { where: fullKey });
}
