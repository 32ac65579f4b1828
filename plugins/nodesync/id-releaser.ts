/**
 * Frees the IDs of nodes that have left the cluster. The original reflector deletes `allocatedIDs/<id>`
 * together with the Node record; without that, the IDs run out.
 *
 * The Node record must have been seen and then be missing for `GRACE_MS`. Then the ID record is marked
 * by compare-and-swap, and deleted by compare-and-delete when exactly this mark has stayed for another
 * `GRACE_MS`. An agent that runs removes the mark of its own record at each check, long before; one that
 * starts removes it before it uses the ID. So of "deleted" and "used again" only one can happen, whatever
 * agent crashes where: each step is one write, and a later agent continues with the mark.
 */
import type { KvStore } from '#datastore/api.ts';
import type { Clock, Random, Timer } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import {
  hasReleaseMark,
  RELEASE_MARK_BYTES,
  withoutReleaseMark,
  withReleaseMark,
} from '#kubernetes/models/release-mark.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { idRecordKey, readIdRecord } from './id-allocator.ts';

/** Mean interval of checks, randomized by a quarter: at least four in the time that a mark must stay. */
const CHECK_MS = 120_000;
/** How long a Node record must be missing, and then a mark must stay. */
const GRACE_MS = 600_000;

export interface IdReleaserDeps {
  readonly nodeName: string;
  /** Store of the cluster, shared by all nodes. */
  readonly cluster: KvStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

interface IdRecord {
  readonly id: number;
  readonly key: string;
  readonly name: string;
  readonly text: string;
}

/** Observations of one database; those of another database begin again. */
class Observations {
  readonly database: string;
  /** Nodes whose Node record was seen. */
  readonly seen = new Set<string>();
  /** Node to when its Node record was first missing. */
  readonly missingSince = new Map<string, number>();
  /** Marked text of an ID record to when it was first read. */
  readonly markedSince = new Map<string, number>();

  constructor(database: string) {
    this.database = database;
  }
}

export class IdReleaser {
  readonly #deps: IdReleaserDeps;
  #observed = new Observations('');
  #timer: Timer | undefined;
  #running: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(deps: IdReleaserDeps) {
    this.#deps = deps;
  }

  get component(): Component {
    return { name: 'id-releaser', afterInit: () => this.start(), close: () => this.close() };
  }

  start(): void {
    if (this.#closed) return;
    // randomized: the agents of a cluster must not check at the same time
    const ms = CHECK_MS * (0.75 + this.#deps.random.next() / 2);
    this.#timer = this.#deps.clock.timer(ms, () => {
      this.#running = this.#check().then(() => this.start());
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#running;
  }

  /** While the database is unavailable, nothing is known and nothing changes. */
  async #check(): Promise<void> {
    try {
      await this.#readAndRelease();
    } catch (thrown) {
      this.#deps.log.debug({ reason: errorText(thrown) }, 'cannot check the IDs of removed nodes');
    }
  }

  async #readAndRelease(): Promise<void> {
    const { cluster, nodeName } = this.#deps;
    const database = await cluster.identity();
    const records = await this.#idRecords();
    // read after the ID records: a node that returns is seen before its ID is freed
    const nodes = await this.#kubeNodes();
    if ((await cluster.identity()) !== database) return;
    if (database !== this.#observed.database) this.#observed = new Observations(database);

    // A reflector that has lost this node, or that does not exist, proves nothing about others.
    const isReflected = nodes.has(nodeName);
    const { seen, missingSince, markedSince } = this.#observed;
    for (const name of isReflected ? nodes : []) seen.add(name);
    forgetAllBut(missingSince, (name) => isReflected && !nodes.has(name));
    const texts = new Set(records.map(({ text }) => text));
    forgetAllBut(markedSince, (text) => isReflected && texts.has(text));

    for (const record of records) {
      if (this.#closed) return;
      if (record.name === nodeName || nodes.has(record.name)) await this.#keep(record);
      else if (isReflected) await this.#release(record);
    }
  }

  /** The node runs or has returned. */
  async #keep({ id, key, name, text }: IdRecord): Promise<void> {
    if (!hasReleaseMark(text)) return;
    const kept = await this.#deps.cluster.compareAndSwap(key, text, withoutReleaseMark(text));
    if (kept) this.#deps.log.info({ id, node: name }, 'keeping the ID of a node that is back');
  }

  /** The next step of freeing the ID of a node without a Node record. */
  async #release({ id, key, name, text }: IdRecord): Promise<void> {
    const { cluster, random, log } = this.#deps;
    const { seen, missingSince, markedSince } = this.#observed;
    if (hasReleaseMark(text)) {
      if (!this.#isOver(markedSince, text)) return;
      if (await cluster.compareAndDelete(key, text))
        log.info({ id, node: name }, 'freed the ID of a node that has left the cluster');
      return;
    }
    if (!seen.has(name) || !this.#isOver(missingSince, name)) return;
    if (
      await cluster.compareAndSwap(
        key,
        text,
        withReleaseMark(text, random.bytes(RELEASE_MARK_BYTES)),
      )
    )
      log.info({ id, node: name }, 'freeing the ID of a node that has left the cluster');
  }

  /** Whether the grace period is over since the first call. */
  #isOver(since: Map<string, number>, key: string): boolean {
    const now = this.#deps.clock.monotonic();
    const start = since.get(key) ?? now;
    since.set(key, start);
    return now - start >= GRACE_MS;
  }

  /** Valid records; the node of an invalid one is unknown. */
  async #idRecords(): Promise<readonly IdRecord[]> {
    const prefix = REFLECTOR_PREFIX + resources.vppnode.keyPrefix;
    const { entries } = await this.#deps.cluster.list(prefix);
    return entries.flatMap(({ key, value: text }) => {
      const record = readIdRecord(text, key);
      if (!record || key !== idRecordKey(record.id)) return [];
      return [{ id: record.id, key, name: record.name, text }];
    });
  }

  /** Names of the nodes with a Node record. */
  async #kubeNodes(): Promise<ReadonlySet<string>> {
    const prefix = REFLECTOR_PREFIX + resources.node.keyPrefix;
    const { entries } = await this.#deps.cluster.list(prefix);
    return new Set(entries.map(({ key }) => key.slice(prefix.length)));
  }
}

function forgetAllBut(since: Map<string, number>, isKept: (key: string) => boolean): void {
  for (const key of since.keys()) if (!isKept(key)) since.delete(key);
}
