/**
 * Publishes the decision of the node about its NodeConfig in the database of the cluster, where contiv-ksr
 * reads it. Each change is one write; an agent that starts reads the record first, and writes nothing if
 * nothing has changed. A write that fails is repeated until it succeeds or the decision changes.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KvStore } from '#datastore/api.ts';
import { Backoff } from '#infra/clock/backoff.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import {
  type NodeConfigStatus,
  nodeConfigStatusKey,
  nodeConfigStatusModel,
} from '#kubernetes/models/node-config-status.ts';

/** Interval in which the decision is read. */
const INTERVAL_MS = 1_000;
/** The record is read again after this time: the database may have been replaced. */
const RECHECK_MS = 600_000;

/** Without its time. */
export type Decision = NodeConfigStatus;

export interface StatusPublisherDeps {
  readonly nodeName: string;
  /** The store that all nodes share. */
  readonly cluster: Pick<KvStore, 'get' | 'put' | 'delete'>;
  /** undefined: it is not known yet; null: the node has no NodeConfig. */
  readonly read: () => Decision | null | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class StatusPublisher {
  readonly #deps: StatusPublisherDeps;
  readonly #closing = new AbortController();
  readonly #backoff: Backoff;
  /** Content of the database; undefined: it has to be read. */
  #published: Decision | null | undefined;
  #checked = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: StatusPublisherDeps) {
    this.#deps = deps;
    this.#backoff = new Backoff({ firstMs: INTERVAL_MS, maxMs: 60_000 }, deps.random);
  }

  get component(): Component {
    return {
      name: 'node-config-status',
      afterInit: () => {
        this.#running = this.#run();
      },
      close: async () => {
        this.#closing.abort();
        await this.#running;
      },
    };
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#deps;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      let pause = INTERVAL_MS;
      try {
        await this.#publish();
        this.#backoff.reset();
      } catch (thrown) {
        this.#published = undefined;
        pause = this.#backoff.next();
        log.debug({ reason: errorText(thrown) }, 'cannot publish the status of the NodeConfig');
      }
      await clock.sleep(pause, signal).catch(() => undefined);
    }
  }

  async #publish(): Promise<void> {
    const { nodeName, cluster, read, clock } = this.#deps;
    const key = nodeConfigStatusKey.build({ name: nodeName });
    const decision = read();
    if (decision === undefined) return;
    if (this.#published === undefined || clock.monotonic() - this.#checked > RECHECK_MS) {
      this.#published = parsed(await cluster.get(key), key);
      this.#checked = clock.monotonic();
    }
    if (isDeepStrictEqual(decision, this.#published)) return;
    if (decision === null) await cluster.delete(key);
    else {
      const since = new Date(clock.wallTime()).toISOString();
      const json = nodeConfigStatusModel.toJson({ ...decision, since });
      await cluster.put(key, JSON.stringify(json));
    }
    this.#published = decision;
  }
}

/** An invalid record is replaced. */
function parsed(text: string | undefined, key: string): Decision | null | undefined {
  if (text === undefined) return null;
  try {
    const status = nodeConfigStatusModel.parse(JSON.parse(text), key);
    return nodeConfigStatusModel.canonical({ ...status, since: '' });
  } catch {
    return undefined;
  }
}
