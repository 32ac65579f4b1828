/**
 * The NodeConfig of this node before the agent runs: from etcd, else from the agent's databases on the disk.
 * They are only read.
 */
import type { KvStore } from '#datastore/api.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { type NodeConfig, nodeConfigModel } from '#kubernetes/models/node-config.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { VALID_NODE_CONFIG_KEY } from '#plugins/contivconf/api.ts';
import { readStoreCopy } from './store-copy.ts';

const ETCD_ATTEMPTS = 2;
const WAIT_MS = 2_000;

export interface NodeConfigReaderDeps {
  readonly nodeName: string;
  /** undefined: the agent runs without etcd. */
  readonly etcd: Pick<KvStore, 'get'> | undefined;
  /** Folders of the agent's databases. */
  readonly localFolder: string;
  readonly mirrorFolder: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface FoundNodeConfig {
  /** undefined: the node has none */
  readonly nodeConfig: NodeConfig | undefined;
  /**
   * As it is in etcd, or in the mirror while etcd does not answer. In place of an invalid text, `nodeConfig` is the
   * last valid one.
   */
  readonly text: string | undefined;
}

export class NodeConfigReader {
  readonly #deps: NodeConfigReaderDeps;
  readonly #key: string;

  constructor(deps: NodeConfigReaderDeps) {
    this.#deps = deps;
    this.#key = REFLECTOR_PREFIX + resources.nodeconfig.key(deps.nodeName, '');
  }

  /**
   * A node that never had a NodeConfig waits for it, as the agent does.
   * @throws the reason of `stop`
   */
  async read(stop: AbortSignal, onWait: () => Promise<void>): Promise<FoundNodeConfig> {
    const { clock, log } = this.#deps;
    for (let isWaiting = false; ; isWaiting = true) {
      const found = await this.#find(stop);
      if (found !== 'missing') return found;
      if (!isWaiting) log.warn({ key: this.#key }, 'waiting for the NodeConfig of this node');
      if (!isWaiting) await onWait();
      await clock.sleep(WAIT_MS, stop);
    }
  }

  async #find(stop: AbortSignal): Promise<FoundNodeConfig | 'missing'> {
    const { localFolder, mirrorFolder } = this.#deps;
    const stored = await this.#stored(stop);
    const local = await this.#copyOf(localFolder);
    const last = local.get(VALID_NODE_CONFIG_KEY);
    const text =
      stored ?? (stored === null ? undefined : await this.#mirrored(mirrorFolder, local));
    if (text !== undefined)
      return { nodeConfig: this.#parsed(text) ?? this.#lastValid(last), text };
    if (last === undefined) return 'missing';
    // Without etcd a node keeps what it has had; with it, the NodeConfig was deleted.
    return { nodeConfig: stored === null ? undefined : this.#lastValid(last), text };
  }

  /** @returns null: etcd has none; undefined: etcd does not answer, or is not used */
  async #stored(stop: AbortSignal): Promise<string | null | undefined> {
    const { etcd, log } = this.#deps;
    for (let attempt = 1; etcd && attempt <= ETCD_ATTEMPTS; attempt++)
      try {
        return (await etcd.get(this.#key)) ?? null;
      } catch (thrown) {
        stop.throwIfAborted();
        log.warn({ attempt, error: errorText(thrown) }, 'cannot read the NodeConfig from etcd');
      }
    return undefined;
  }

  async #mirrored(folder: string, local: ReadonlyMap<string, string>): Promise<string | undefined> {
    // Without etcd the local store is the database.
    const database = this.#deps.etcd ? await this.#copyOf(folder) : local;
    return database.get(this.#key);
  }

  async #copyOf(folder: string): Promise<ReadonlyMap<string, string>> {
    const { random, log } = this.#deps;
    try {
      return await readStoreCopy(folder, [this.#key, VALID_NODE_CONFIG_KEY], random);
    } catch (thrown) {
      log.info({ folder, error: errorText(thrown) }, 'cannot read the database of the agent');
      return new Map();
    }
  }

  #parsed(text: string): NodeConfig | undefined {
    try {
      return nodeConfigModel.parseKnown(JSON.parse(text), this.#key).value;
    } catch (thrown) {
      this.#deps.log.error({ key: this.#key, error: errorText(thrown) }, 'invalid NodeConfig');
      return undefined;
    }
  }

  /** From the agent's record of its last valid NodeConfig. One that cannot be read is none, as for the agent. */
  #lastValid(text: string | undefined): NodeConfig | undefined {
    if (text === undefined) return undefined;
    try {
      const { nodeConfig } = JSON.parse(text) as { nodeConfig: unknown };
      if (nodeConfig === null) return undefined;
      return nodeConfigModel.parseKnown(nodeConfig, VALID_NODE_CONFIG_KEY).value;
    } catch (thrown) {
      const error = errorText(thrown);
      this.#deps.log.error({ key: VALID_NODE_CONFIG_KEY, error }, 'invalid record of a NodeConfig');
      return undefined;
    }
  }
}
