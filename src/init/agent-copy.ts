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
import { readStoreCopy } from './store-copy.ts';

const POLL_MS = 1_000;
/** While etcd answers. Without etcd the agent of a node without a copy could do nothing anyway. */
const LIMIT_MS = 60_000;

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
   * @param nodeConfig undefined: the node has none
   * @throws the reason of `stop`
   */
  async whenComplete(
    nodeConfig: NodeConfig | undefined,
    stop: AbortSignal,
    onWait: () => Promise<void>,
  ): Promise<void> {
    const { etcd, clock, log } = this.#deps;
    if (!etcd) return;
    let answeredMs = 0;
    for (let missing: string | undefined; answeredMs < LIMIT_MS; answeredMs += POLL_MS) {
      const now = await this.#missing(nodeConfig);
      if (now === undefined) return;
      if (now !== missing)
        log.info({ missing: now }, 'VPP waits for the copy of etcd of the agent');
      missing = now;
      await onWait();
      await this.#untilEtcdAnswers(stop);
      await clock.sleep(POLL_MS, stop);
    }
    log.error(
      { limitMs: LIMIT_MS },
      'the agent has not copied etcd: VPP starts, but cannot be configured if it cuts off etcd',
    );
  }

  async #untilEtcdAnswers(stop: AbortSignal): Promise<void> {
    const { etcd, clock, log } = this.#deps;
    for (let isReported = false; ; isReported = true)
      try {
        await etcd!.get(this.#nodeConfigKey);
        return;
      } catch (thrown) {
        stop.throwIfAborted();
        const error = errorText(thrown);
        if (!isReported) log.warn({ error }, 'VPP waits for etcd: the agent has no copy of it');
        await clock.sleep(POLL_MS, stop);
      }
  }

  /** @returns undefined: nothing */
  async #missing(nodeConfig: NodeConfig | undefined): Promise<string | undefined> {
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
    if (nodeConfig === undefined) return undefined;
    const copied = nodeConfigIn(copy.get(this.#nodeConfigKey), this.#nodeConfigKey);
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
