import type { KvEntry } from '#datastore/api.ts';
import type { VppNode } from '#kubernetes/models/vpp-node.ts';
import { resources } from '#kubernetes/resources/resources.ts';
import type { LastKnownEntry, LastKnownState } from './last-known-state.ts';

/** How long the other agents and the reflectors have to write their records again. */
export const RETENTION_MS = 120_000;

/** Loss of records in the database: none, possibly some, or the state of Kubernetes. */
export type Loss = 'none' | 'possible' | 'wiped';

const keywords: ReadonlySet<string | undefined> = new Set(
  [resources.node, resources.vppnode, resources.nodeconfig].map(({ keyword }) => keyword),
);

/** Whether a record belongs to a node: its Node object, its ID, or its NodeConfig. */
export function isOfNode({ watchedKey }: Pick<LastKnownEntry, 'watchedKey'>): boolean {
  return keywords.has(watchedKey.resource);
}

/**
 * Records that stay in use although the database has lost them. After a database was wiped or restored,
 * each agent announces itself again, and the reflectors write the state of Kubernetes again, which takes
 * them some seconds; until then the nodes must stay connected and the policies in force. So records that
 * were known before the loss are kept for a grace period. A record that the database has again, or that is
 * deleted there afterwards, is treated as any other.
 *
 * The mirror holds the retained records, too. After a possible loss only the records of nodes are kept: they
 * are rarely deleted, and a pod or an endpoint that was deleted must not come back.
 */
export class RetainedRecords {
  readonly #nodeName: string;
  #keys = new Set<string>();
  #end = Number.NEGATIVE_INFINITY;

  constructor(nodeName: string) {
    this.#nodeName = nodeName;
  }

  get size(): number {
    return this.#keys.size;
  }

  /** When the grace period ends, on the monotonic clock. */
  get end(): number {
    return this.#end;
  }

  /** Records are kept although the grace period is over. */
  isOver(now: number): boolean {
    return this.#keys.size > 0 && now >= this.#end;
  }

  has = (key: string): boolean => this.#keys.has(key);

  keys(): readonly string[] {
    return [...this.#keys];
  }

  /**
   * Selects the records to keep beside the content of the database.
   * @param before the state before
   * @param stored content of the database
   */
  select(
    before: LastKnownState,
    stored: LastKnownState,
    loss: Loss,
    now: number,
  ): readonly KvEntry[] {
    if (loss !== 'none') this.#end = now + RETENTION_MS;
    const isOver = now >= this.#end;
    const announced = new Announced(stored);
    const kept: KvEntry[] = [];
    for (const [key, entry] of before.entries()) {
      if (isOver || stored.get(key) || !this.#isRetained(key, entry, loss)) continue;
      const record = vppNodeOf(entry);
      // the own record must be seen as missing, so that it is written again
      if (record && (record.name === this.#nodeName || announced.replaces(record))) continue;
      kept.push({ key, value: entry.validText! });
    }
    this.#keys = new Set(kept.map(({ key }) => key));
    return kept;
  }

  #isRetained(key: string, entry: LastKnownEntry, loss: Loss): boolean {
    if (loss === 'none') return this.#keys.has(key);
    return isOfNode(entry) || (loss === 'wiped' && entry.watchedKey.reflected);
  }

  /** The key was written or deleted in the database, or its grace period is over. */
  release(key: string): void {
    this.#keys.delete(key);
  }

  /** Retained records of nodes that a new record replaces: same name, or same address. */
  replacedBy(record: VppNode, known: LastKnownState): readonly string[] {
    if (this.#keys.size === 0) return [];
    const announced = new Announced();
    announced.add(record);
    return [...this.#keys].filter((key) => {
      const retained = vppNodeOf(known.get(key));
      return retained && announced.replaces(retained);
    });
  }
}

/** Names and addresses of nodes in the database. */
class Announced {
  readonly #names = new Set<string>();
  readonly #addresses = new Set<string>();

  constructor(stored?: LastKnownState) {
    if (!stored) return;
    for (const [, entry] of stored.entries()) {
      const record = vppNodeOf(entry);
      if (record) this.add(record);
    }
  }

  add(record: VppNode): void {
    this.#names.add(record.name);
    for (const address of addressesOf(record)) this.#addresses.add(address);
  }

  replaces(record: VppNode): boolean {
    if (this.#names.has(record.name)) return true;
    return addressesOf(record).some((address) => this.#addresses.has(address));
  }
}

function vppNodeOf(entry: LastKnownEntry | undefined): VppNode | undefined {
  if (entry?.watchedKey.resource !== resources.vppnode.keyword) return undefined;
  return entry.value as VppNode | undefined;
}

/** Without prefix length. */
function addressesOf({ ip_addresses, ip_address }: VppNode): string[] {
  return [...ip_addresses, ip_address]
    .map((cidr) => cidr.split('/')[0]!)
    .filter((address) => address !== '');
}
