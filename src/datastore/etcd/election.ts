/**
 * Leader election with the keys of etcd's own client library (`clientv3/concurrency`), which Contiv/VPP
 * uses: each candidate has a lease and the key `<prefix>/<lease in hex>`, and the candidate leads whose key
 * has the lowest create revision. So programs with either implementation exclude each other.
 */
import type { Clock } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Election, Leadership } from '../election.ts';
import { prefixEnd, prefixStart } from '../keys.ts';
import type { Cluster } from './cluster.ts';
import { EtcdLeadership } from './leadership.ts';
import { Lease } from './lease.ts';

/** A part of the time to live of the lease: between two renewals, and between two looks at the others. */
const RENEWALS_PER_TTL = 5;

export interface ElectionOptions {
  /** Without a slash at its end. */
  readonly prefix: string;
  /** Seconds after which the key of a candidate that has ended is deleted. */
  readonly ttl: number;
  /** Shown to operators as the value of the key. */
  readonly name: string;
  readonly log: Logger;
}

interface Candidacy {
  readonly lease: Lease;
  readonly key: Buffer;
  readonly revision: string;
}

export class EtcdElection implements Election {
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #options: ElectionOptions;

  constructor(cluster: Cluster, clock: Clock, options: ElectionOptions) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.#options = options;
  }

  async campaign(signal: AbortSignal): Promise<Leadership> {
    const intervalMs = (this.#options.ttl * 1000) / RENEWALS_PER_TTL;
    let candidacy: Candidacy | undefined;
    let problem = '';
    for (;;) {
      try {
        signal.throwIfAborted();
        candidacy ??= await this.#stand();
        const { lease } = candidacy;
        if (!lease.isValid) await lease.renew();
        if (!(await this.#hasPredecessor(candidacy))) {
          signal.throwIfAborted();
          const { key, revision } = candidacy;
          return new EtcdLeadership({
            cluster: this.#cluster,
            clock: this.#clock,
            lease,
            key,
            revision,
            renewMs: intervalMs,
          });
        }
        problem = '';
        await this.#clock.sleep(intervalMs, signal);
        await lease.renew();
      } catch (thrown) {
        // The lease may have expired, or the database was replaced: a new candidacy begins.
        await candidacy?.lease.revoke();
        candidacy = undefined;
        signal.throwIfAborted();
        const text = errorText(thrown);
        if (text !== problem) this.#options.log.warn({ reason: text }, 'election: cannot campaign');
        problem = text;
        await this.#clock.sleep(intervalMs, signal);
      }
    }
  }

  /** The key may exist already when the reply of the first request was lost. */
  async #stand(): Promise<Candidacy> {
    const { prefix, ttl, name } = this.#options;
    const lease = await Lease.grant(this.#cluster, this.#clock, ttl);
    const key = Buffer.from(`${prefix}/${lease.hexId}`);
    const { succeeded, header, responses } = await this.#cluster
      .write((kv) =>
        kv.txn({
          compare: [{ key, target: 'Create', result: 'Equal', create_revision: 0 }],
          success: [{ request_put: { key, value: Buffer.from(name), lease: lease.id } }],
          failure: [{ request_range: { key } }],
        }),
      )
      .catch(async (thrown: unknown) => {
        await lease.revoke();
        throw thrown;
      });
    const existing = responses[0]?.response_range?.kvs[0];
    return {
      lease,
      key,
      revision: succeeded || !existing ? header.revision : existing.create_revision,
    };
  }

  /** Whether a candidate is before this one. @throws when the own key is deleted */
  async #hasPredecessor({ key, revision }: Candidacy): Promise<boolean> {
    const prefix = `${this.#options.prefix}/`;
    const { kvs } = await this.#cluster.read((kv) =>
      kv.range({
        key: prefixStart(prefix),
        range_end: prefixEnd(prefix),
        max_create_revision: revision,
        sort_target: 'Create',
        sort_order: 'Ascend',
        limit: 1,
        keys_only: true,
      }),
    );
    const first = kvs[0];
    if (!first) throw new Error('the key of this candidate was deleted');
    if (first.key.equals(key)) return false;
    const own = await this.#cluster.read((kv) => kv.range({ key, keys_only: true }));
    if (own.kvs[0]?.create_revision !== revision)
      throw new Error('the key of this candidate was deleted');
    return true;
  }
}
