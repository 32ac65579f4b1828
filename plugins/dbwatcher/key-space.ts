import { parseResourceKey, REFLECTOR_PREFIX } from '#kubernetes/resources/resources.ts';
import { InvalidModelError } from '#models/model.ts';
import { modelOfKey } from '#models/registry.ts';

/** Below the agent's prefix: configuration that comes from outside. */
const CONFIG = 'config/';
/** Keys of what the reflector writes begin so; the others below its prefix are the agents' own. */
const REFLECTED = 'k8s/';

interface Parser {
  parse(input: unknown, where?: string): object;
}

/** What a key in the store is about. */
export interface WatchedKey {
  /** Keyword of the resource; undefined for external configuration. */
  readonly resource: string | undefined;
  /** The key as events have it: without the prefix of the reflector or agent. */
  readonly key: string;
  /** Written by the reflector, out of Kubernetes. */
  readonly reflected: boolean;
  /** undefined: nothing can be said about values here. */
  readonly model: Parser | undefined;
}

/** Which keys of the store are watched, and what stands there. */
export class KeySpace {
  /** Everything that is watched has one of these prefixes. */
  readonly prefixes: readonly string[];
  readonly #agentPrefix: string;

  /** @param agentPrefix for example `/vnf-agent/<label>/` */
  constructor(agentPrefix: string) {
    this.#agentPrefix = agentPrefix;
    this.prefixes = [REFLECTOR_PREFIX, agentPrefix + CONFIG];
  }

  /** undefined for a key that means nothing to the agent. */
  find(fullKey: string): WatchedKey | undefined {
    if (fullKey.startsWith(REFLECTOR_PREFIX)) {
      const key = fullKey.slice(REFLECTOR_PREFIX.length);
      const resource = parseResourceKey(key)?.resource;
      if (!resource) return undefined;
      const reflected = key.startsWith(REFLECTED);
      return { resource: resource.keyword, key, reflected, model: resource.model };
    }
    if (!fullKey.startsWith(this.#agentPrefix + CONFIG)) return undefined;
    const key = fullKey.slice(this.#agentPrefix.length);
    return { resource: undefined, key, reflected: false, model: modelOfKey(key) };
  }
}

/**
 * The canonical value of what stands in the store.
 * @throws InvalidModelError and what JSON.parse throws
 */
export function decode(watchedKey: WatchedKey, fullKey: string, text: string): object {
  if (!watchedKey.model) throw new InvalidModelError('no model has this key', { where: fullKey });
  return watchedKey.model.parse(JSON.parse(text), fullKey);
}
