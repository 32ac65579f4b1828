/**
 * Deletes the data of nodes that have left the cluster: `allocatedIDs/<id>` and everything
 * under `/vnf-agent/<node>/`. The original does so when the Node object is deleted; but the agent of such a
 * node may still run, or the node may return, and another node must not get its ID before. Therefore a node
 * must be missing for a time, and its ID is freed in two steps, as the agents do it (`id-releaser.ts`): it is
 * marked by compare-and-swap, and deleted by compare-and-delete when exactly this mark has stayed. An agent
 * that runs removes the mark of its own record. If an agent frees it first, nothing is left to do.
 *
 * A removal is only believed if the node was known before: from the API server, or as a
 * record that a complete list has shown to be stale. The time that a node was missing is lost in a restart,
 * the mark is not.
 */
import type { KvEntry, KvStore } from '#datastore/api.ts';
import type { Leadership } from '#datastore/election.ts';
import type { Clock, Random, Timer } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { agentPrefix } from '#infra/service-label/service-label.ts';
import { nodeConfigStatusKey } from '#kubernetes/models/node-config-status.ts';
import { policyEnforcementKey } from '#kubernetes/models/policy-enforcement.ts';
import {
  hasReleaseMark,
  RELEASE_MARK_BYTES,
  withoutReleaseMark,
  withReleaseMark,
} from '#kubernetes/models/release-mark.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import { MAX_OPERATIONS } from './batch.ts';
import type { RecordStore } from './record-store.ts';
import type { RecordTable } from './record-table.ts';

const CHECK_MS = 60_000;
/** How long a node must be missing, and then a mark must stay: that of the agents. */
const GRACE_MS = 600_000;

export type RemovedNodesStore = Pick<RecordStore, 'pages'> &
  Pick<KvStore, 'compareAndSwap' | 'compareAndDelete'>;

export interface RemovedNodesDeps {
  readonly nodes: RecordTable;
  readonly store: RemovedNodesStore;
  /** Of all records of the reflector. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

interface IdRecord {
  readonly key: string;
  readonly node: string;
  readonly text: string;
}

export class RemovedNodes {
  readonly #deps: RemovedNodesDeps;
  #known = new Set<string>();
  /** Node to when it was first missing. */
  readonly #missingSince = new Map<string, number>();
  /** Marked text of an ID record to when it was first read. */
  #markedSince = new Map<string, number>();
  #leadership: Leadership | undefined;
  #timer: Timer | undefined;
  #checking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: RemovedNodesDeps) {
    this.#deps = deps;
  }

  /** Nodes whose records wait to be deleted. */
  get waiting(): number {
    return this.#missingSince.size;
  }

  start(): void {
    this.#later();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#checking;
  }

  /** @param leadership undefined: another instance deletes */
  lead(leadership: Leadership | undefined): void {
    this.#leadership = leadership;
    this.#markedSince.clear();
  }

  /** A Node record was in the datastore without its Node object. */
  addOrphan(key: string): void {
    const node = key.slice(this.#deps.nodes.prefix.length);
    if (!this.#missingSince.has(node)) this.#missingSince.set(node, this.#deps.clock.monotonic());
  }

  #later(): void {
    if (this.#isClosed) return;
    this.#timer = this.#deps.clock.timer(CHECK_MS, () => {
      this.#checking = this.#check().catch((thrown: unknown) => {
        const reason = errorText(thrown);
        this.#deps.log.debug(
          { reason },
          'cannot delete the records of removed nodes; trying again',
        );
      });
      void this.#checking.then(() => this.#later());
    });
  }

  async #check(): Promise<void> {
    const { nodes, clock } = this.#deps;
    if (!nodes.isComplete) return;
    const now = clock.monotonic();
    const present = new Set<string>();
    for (const key of nodes.keys()) present.add(key.slice(nodes.prefix.length));
    for (const node of this.#known)
      if (!present.has(node) && !this.#missingSince.has(node)) this.#missingSince.set(node, now);
    this.#known = present;
    for (const node of this.#missingSince.keys())
      if (this.#isPresent(node)) this.#missingSince.delete(node);
    if (this.#leadership) await this.#release(this.#leadership);
  }

  async #release(leadership: Leadership): Promise<void> {
    const records = await this.#idRecords();
    const marked = new Map<string, number>();
    for (const [text, since] of this.#markedSince)
      if (records.some((record) => record.text === text)) marked.set(text, since);
    this.#markedSince = marked;
    const withId = new Set<string>();
    for (const record of records) {
      if (leadership.lost.aborted) return;
      if (this.#isPresent(record.node)) await this.#keep(record);
      else if (!(await this.#freed(record))) withId.add(record.node);
    }
    for (const [node, since] of this.#missingSince) {
      const isOver = this.#deps.clock.monotonic() - since >= 2 * GRACE_MS;
      if (!isOver || withId.has(node)) continue;
      await this.#deleteTree(node, leadership);
      this.#missingSince.delete(node);
    }
  }

  #isPresent(node: string): boolean {
    const { nodes } = this.#deps;
    return nodes.get(nodes.prefix + node) !== undefined;
  }

  /** The node has returned. */
  async #keep({ key, node, text }: IdRecord): Promise<void> {
    if (!hasReleaseMark(text)) return;
    const { store, log } = this.#deps;
    if (await store.compareAndSwap(key, text, withoutReleaseMark(text)))
      log.info({ node, key }, 'keeping the ID of a node that is back');
  }

  /** The next step of freeing the ID of a missing node. @returns whether the record is deleted */
  async #freed({ key, node, text }: IdRecord): Promise<boolean> {
    const { store, clock, random, log } = this.#deps;
    const now = clock.monotonic();
    if (hasReleaseMark(text)) {
      const since = this.#markedSince.get(text) ?? now;
      this.#markedSince.set(text, since);
      // a mark without a known removal is of an agent, or of an earlier run
      if (!this.#missingSince.has(node)) this.#missingSince.set(node, now - GRACE_MS);
      if (now - since < GRACE_MS || !(await store.compareAndDelete(key, text))) return false;
      log.info({ node, key }, 'freed the ID of a node that has left the cluster');
      return true;
    }
    const missing = this.#missingSince.get(node);
    if (missing === undefined || now - missing < GRACE_MS) return false;
    const mark = withReleaseMark(text, random.bytes(RELEASE_MARK_BYTES));
    if (await store.compareAndSwap(key, text, mark))
      log.info({ node, key }, 'freeing the ID of a node that has left the cluster');
    return false;
  }

  /** Everything that the agent of the node has stored, and what was stored for it. */
  async #deleteTree(node: string, leadership: Leadership): Promise<void> {
    const prefix = agentPrefix(node);
    if (prefix === this.#deps.prefix) return;
    const keys: string[] = [];
    await this.#deps.store.pages(prefix, (page) => {
      for (const { key } of page) keys.push(key);
    });
    for (const template of [nodeConfigStatusKey, policyEnforcementKey]) {
      const own = template.build({ name: node });
      await this.#deps.store.pages(own, (page) => {
        for (const { key } of page) if (key === own) keys.push(key);
      });
    }
    for (let at = 0; at < keys.length; at += MAX_OPERATIONS) {
      // the node may have returned meanwhile
      if (this.#isPresent(node)) return;
      const some = keys.slice(at, at + MAX_OPERATIONS);
      await leadership.putAll(new Map(some.map((key) => [key, undefined])));
    }
    if (keys.length > 0)
      this.#deps.log.info({ node, keys: keys.length }, 'deleted the data of a node that has left');
  }

  async #idRecords(): Promise<IdRecord[]> {
    const records: IdRecord[] = [];
    const prefix = this.#deps.prefix + resources.vppnode.keyPrefix;
    await this.#deps.store.pages(prefix, (page: readonly KvEntry[]) => {
      for (const { key, value } of page) {
        const node = nodeOf(value);
        if (node !== undefined) records.push({ key, node, text: value });
      }
    });
    return records;
  }
}

/** undefined: the node of an invalid record is unknown. */
function nodeOf(text: string): string | undefined {
  try {
    const { name } = JSON.parse(text) as { name?: unknown };
    return typeof name === 'string' && name !== '' ? name : undefined;
  } catch {
    return undefined;
  }
}
