/**
 * Publishes the decision of the node about its NodeConfig in the database of the cluster, where contiv-ksr
 * reads it. Each change is one write; an agent that starts reads the record first, and writes nothing if
 * nothing has changed. A write that fails is repeated until it succeeds or the decision changes.
 */
import { isDeepStrictEqual } from 'node:util';
import type { KvStore } from '#datastore/api.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import { repeatedWork } from '#infra/process/repeated-work.ts';
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
  readonly component: Component;
  /** Content of the database; undefined: it has to be read. */
  #published: Decision | null | undefined;
  #checked = 0;

  constructor(deps: StatusPublisherDeps) {
    this.#deps = deps;
    const task = {
      name: 'node-config-status',
      intervalMs: INTERVAL_MS,
      work: () => this.#publish(),
      onFailure: (thrown: unknown) => {
        this.#published = undefined;
        const reason = errorText(thrown);
        deps.log.debug({ reason }, 'cannot publish the status of the NodeConfig');
      },
    };
    this.component = repeatedWork(task, deps);
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
