/** The decisions of the nodes about their NodeConfigs, followed in the datastore. */
import type { Watch } from '#datastore/api.ts';
import { Backoff } from '#infra/clock/backoff.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import {
  type NodeConfigStatus,
  nodeConfigStatusKey,
  nodeConfigStatusModel,
} from '#kubernetes/models/node-config-status.ts';
import type { RecordStore } from './records/record-store.ts';

export interface NodeDecisionsDeps {
  readonly store: Pick<RecordStore, 'pages' | 'watch'>;
  /** The decision of a node has changed. */
  readonly onChange: (node: string) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class NodeDecisions {
  readonly #deps: NodeDecisionsDeps;
  readonly #closing = new AbortController();
  #decisions = new Map<string, NodeConfigStatus>();
  #watch: Watch | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: NodeDecisionsDeps) {
    this.#deps = deps;
  }

  get(node: string): NodeConfigStatus | undefined {
    return this.#decisions.get(node);
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, random, log } = this.#deps;
    const { signal } = this.#closing;
    const backoff = new Backoff({ firstMs: 1_000, maxMs: 30_000 }, random);
    while (!signal.aborted) {
      try {
        const { ended } = await this.#follow();
        backoff.reset();
        await ended;
      } catch (thrown) {
        const reason = errorText(thrown);
        log.debug({ reason }, 'cannot follow the decisions about NodeConfigs; trying again');
      }
      this.#watch?.close();
      await clock.sleep(backoff.next(), signal).catch(() => undefined);
    }
  }

  /** Reads all and watches. @returns a promise that resolves when the watch has ended */
  async #follow(): Promise<{ readonly ended: Promise<void> }> {
    const prefix = nodeConfigStatusModel.keyPrefix;
    const before = this.#decisions;
    const found = new Map<string, NodeConfigStatus>();
    const revision = await this.#deps.store.pages(prefix, (entries) => {
      for (const { key, value } of entries) this.#set(found, key, value);
    });
    // until they are all read, the earlier ones are the last known
    this.#decisions = found;
    for (const node of new Set([...before.keys(), ...found.keys()])) this.#deps.onChange(node);
    const ended = Promise.withResolvers<void>();
    this.#closing.signal.addEventListener('abort', () => ended.resolve(), { once: true });
    this.#watch = this.#deps.store.watch(prefix, revision, {
      onChanges: (changes) => {
        for (const { key, value } of changes) {
          const node = this.#set(found, key, value);
          if (node !== undefined) this.#deps.onChange(node);
        }
      },
      onLost: () => ended.resolve(),
    });
    return { ended: ended.promise };
  }

  /** An invalid record counts as none. @returns the node; undefined: the key is of no node */
  #set(
    decisions: Map<string, NodeConfigStatus>,
    key: string,
    text: string | undefined,
  ): string | undefined {
    const node = nodeConfigStatusKey.parse(key)?.name;
    if (node === undefined) return undefined;
    const decision = text === undefined ? undefined : this.#parsed(key, text);
    if (decision) decisions.set(node, decision);
    else decisions.delete(node);
    return node;
  }

  #parsed(key: string, text: string): NodeConfigStatus | undefined {
    try {
      return nodeConfigStatusModel.parse(JSON.parse(text), key);
    } catch (thrown) {
      this.#deps.log.debug({ key, reason: errorText(thrown) }, 'ignoring an invalid record');
      return undefined;
    }
  }
}
