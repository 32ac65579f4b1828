/**
 * The agent's copy of etcd, before VPP takes over the NIC through which the node may reach etcd. The agent
 * makes the copy while VPP is not connected; without it, it could not configure VPP.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KvStore } from '#datastore/api.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { type NodeConfig, nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { vppNodeModel } from '#kubernetes/models/vpp-node.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import type { FoundNodeConfig } from './node-config-reader.ts';
import { readStoreCopy } from './store-copy.ts';

const POLL_MS = 1_000;
/** While etcd answers. Without etcd the agent of a node without a copy could do nothing anyway. */
const LIMIT_MS = 60_000;

/** Without a NodeConfig: the node has none, or does not use it. */
export interface CopyRequest extends FoundNodeConfig {
  /** Whether the wait ends when etcd has another NodeConfig. */
  readonly followsNodeConfig: boolean;
}

export interface AgentCopyDeps {
  readonly nodeName: string;
  /** undefined: the agent runs without etcd. */
  readonly etcd: Pick<KvStore, 'get'> | undefined;
  readonly mirrorFolder: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class AgentCopy {
  readonly #deps: AgentCopyDeps;
  readonly #nodeConfigKey: string;
  readonly #idPrefix = REFLECTOR_PREFIX + resources.vppnode.keyPrefix;

  constructor(deps: AgentCopyDeps) {
    this.#deps = deps;
    this.#nodeConfigKey = REFLECTOR_PREFIX + resources.nodeconfig.key(deps.nodeName, '');
  }

  /**
   * Resolves when the copy has the ID of the node and its NodeConfig, or when the agent does not make it
   * although etcd answers.
   * @returns false: etcd has another NodeConfig, which may name another NIC
   * @throws the reason of `stop`
   */
  async whenComplete(
    { nodeConfig, text, followsNodeConfig }: CopyRequest,
    stop: AbortSignal,
    onWait: () => Promise<void>,
  ): Promise<boolean> {
    const { etcd, clock, log } = this.#deps;
    if (!etcd) return true;
    let answeredMs = 0;
    let stored = text;
    for (let missing: string | undefined; answeredMs < LIMIT_MS; answeredMs += POLL_MS) {
      const now = await this.#missing(nodeConfig, stored);
      if (now === undefined) return true;
      if (now !== missing)
        log.info({ missing: now }, 'VPP waits for the copy of etcd of the agent');
      missing = now;
      await onWait();
      // Before the result, too: an etcd that answers only now and then would be read without a pause.
      await clock.sleep(POLL_MS, stop);
      stored = await this.#storedNodeConfig(stop);
      if (followsNodeConfig && this.#isOther(stored, nodeConfig)) {
        log.info('etcd has another NodeConfig: reading it again');
        return false;
      }
    }
    log.error(
      { limitMs: LIMIT_MS },
      'the agent has not copied etcd: VPP starts, but cannot be configured if it cuts off etcd',
    );
    return true;
  }

  /** In place of an invalid one the node keeps its last valid one. */
  #isOther(stored: string | undefined, nodeConfig: NodeConfig | undefined): boolean {
    if (stored === undefined) return nodeConfig !== undefined;
    const parsed = nodeConfigIn(stored, this.#nodeConfigKey);
    return parsed !== undefined && !isDeepStrictEqual(parsed, nodeConfig);
  }

  /** Waits until etcd answers. */
  async #storedNodeConfig(stop: AbortSignal): Promise<string | undefined> {
    const { etcd, clock, log } = this.#deps;
    for (let isReported = false; ; isReported = true)
      try {
        return await etcd!.get(this.#nodeConfigKey);
      } catch (thrown) {
        stop.throwIfAborted();
        const error = errorText(thrown);
        if (!isReported) log.warn({ error }, 'VPP waits for etcd: the agent has no copy of it');
        await clock.sleep(POLL_MS, stop);
      }
  }

  /** @param stored the NodeConfig of etcd or of the copy, if it is known @returns undefined: nothing */
  async #missing(
    nodeConfig: NodeConfig | undefined,
    stored: string | undefined,
  ): Promise<string | undefined> {
    const { nodeName, mirrorFolder, random } = this.#deps;
    let copy: ReadonlyMap<string, string>;
    try {
      copy = await readStoreCopy(mirrorFolder, [this.#idPrefix, this.#nodeConfigKey], random);
    } catch (thrown) {
      return errorText(thrown);
    }
    const hasId = [...copy].some(
      ([key, text]) => key.startsWith(this.#idPrefix) && nameIn(text, key) === nodeName,
    );
    if (!hasId) return 'the ID of the node';
    const text = copy.get(this.#nodeConfigKey);
    if (nodeConfig === undefined || (text !== undefined && text === stored)) return undefined;
    const copied = nodeConfigIn(text, this.#nodeConfigKey);
    return isDeepStrictEqual(copied, nodeConfig) ? undefined : 'the NodeConfig of the node';
  }
}

function nameIn(text: string, key: string): string | undefined {
  try {
    return vppNodeModel.parseKnown(JSON.parse(text), key).value.name;
  } catch {
    return undefined;
  }
}

function nodeConfigIn(text: string | undefined, key: string): NodeConfig | undefined {
  try {
    return text === undefined ? undefined : nodeConfigModel.parseKnown(JSON.parse(text), key).value;
  } catch {
    return undefined;
  }
}
