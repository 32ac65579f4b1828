/** The decisions of the nodes about their NodeConfigs, followed in the datastore. */
import type { KvEntry, Watch } from '#datastore/api.ts';
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
    this.#decisions = new Map();
    const read = (entries: readonly KvEntry[]) => {
      for (const { key, value } of entries) this.#set(key, value);
    };
    const revision = await this.#deps.store.pages(prefix, read);
    for (const node of before.keys()) this.#deps.onChange(node);
    const ended = Promise.withResolvers<void>();
    this.#closing.signal.addEventListener('abort', () => ended.resolve(), { once: true });
    this.#watch = this.#deps.store.watch(prefix, revision, {
      onChanges: (changes) => {
        for (const { key, value } of changes) this.#set(key, value);
      },
      onLost: () => ended.resolve(),
    });
    return { ended: ended.promise };
  }

  /** An invalid record counts as none. */
  #set(key: string, text: string | undefined): void {
    const node = nodeConfigStatusKey.parse(key)?.name;
    if (node === undefined) return;
    const decision = text === undefined ? undefined : this.#parsed(key, text);
    if (decision) this.#decisions.set(node, decision);
    else this.#decisions.delete(node);
    this.#deps.onChange(node);
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
