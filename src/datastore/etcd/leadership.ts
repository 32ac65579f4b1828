import type { ICompare, IRequestOp } from 'etcd3';
import type { Clock, Timer } from '#infra/clock/clock.ts';
import { CodedError } from '#infra/errors/errors.ts';
import { StoreUnavailableError } from '../api.ts';
import { type Leadership, LeadershipLostError } from '../election.ts';
import { prefixEnd, prefixStart } from '../keys.ts';
import type { Cluster } from './cluster.ts';
import { storeError } from './errors.ts';
import type { Lease } from './lease.ts';
import { requestOf } from './requests.ts';

const KEY_DELETED = 'the key of this leader was deleted in etcd';

export interface LeadershipOptions {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly lease: Lease;
  /** Key of this candidate. */
  readonly key: Buffer;
  /** Create revision of the key. */
  readonly revision: string;
  readonly renewMs: number;
}

/**
 * Each write compares the revision of the own key in the same transaction (the fence). A write without a
 * reply may still be on its way, and arrive after a later one: therefore the key is written again before
 * the next write, which changes its revision, so etcd refuses the older ones.
 */
export class EtcdLeadership implements Leadership {
  readonly #options: LeadershipOptions;
  readonly #lost = new AbortController();
  /** Modification revision of the own key; undefined: it must be written first. */
  #fence: string | undefined;
  #moving: Promise<string> | undefined;
  #timer: Timer | undefined;

  constructor(options: LeadershipOptions) {
    this.#options = options;
    this.#fence = options.revision;
    this.#renewLater();
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  async putAll(entries: ReadonlyMap<string, string | undefined>): Promise<void> {
    const fence = await this.#currentFence();
    const { cluster, key } = this.#options;
    const compare: ICompare = { key, target: 'Mod', result: 'Equal', mod_revision: fence };
    const success = [...entries].map(([name, value]) => requestOf(name, value));
    const succeeded = await this.#request(async () => {
      const reply = await cluster.write((kv) => kv.txn({ compare: [compare], success }));
      return reply.succeeded;
    });
    if (succeeded) return;
    // another call has moved the fence, or the leadership is lost
    if (this.#fence === fence) this.#fence = undefined;
    await this.#currentFence();
    throw new StoreUnavailableError('the write was overtaken by the end of an earlier one', {
      where: key.toString(),
    });
  }

  async hasSuccessor(): Promise<boolean> {
    const { cluster, key, revision } = this.#options;
    const prefix = key.subarray(0, key.lastIndexOf('/') + 1).toString();
    const range = {
      key: prefixStart(prefix),
      range_end: prefixEnd(prefix),
      min_create_revision: revision,
      limit: 2,
      keys_only: true,
    };
    const { kvs } = await cluster.read((kv) => kv.range(range));
    return kvs.some((one) => !one.key.equals(key));
  }

  async resign(): Promise<void> {
    this.#timer?.cancel();
    if (this.#lost.signal.aborted) return;
    this.#lost.abort(new LeadershipLostError('this instance has resigned'));
    await this.#options.lease.revoke();
  }

  async #currentFence(): Promise<string> {
    this.#checkLease();
    if (this.#fence !== undefined) return this.#fence;
    this.#moving ??= this.#moveFence().finally(() => {
      this.#moving = undefined;
    });
    return await this.#moving;
  }

  async #moveFence(): Promise<string> {
    const { cluster, key, revision, lease } = this.#options;
    const compare: ICompare = { key, target: 'Create', result: 'Equal', create_revision: revision };
    const success: IRequestOp[] = [
      { request_put: { key, value: Buffer.alloc(0), lease: lease.id, ignore_value: true } },
    ];
    const reply = await this.#request(() =>
      cluster.write((kv) => kv.txn({ compare: [compare], success })),
    );
    if (!reply.succeeded) throw this.#lose(KEY_DELETED);
    this.#fence = reply.header.revision;
    return this.#fence;
  }

  async #request<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (thrown) {
      const error = thrown instanceof CodedError ? thrown : storeError(thrown, this.#where);
      if (error instanceof StoreUnavailableError) this.#fence = undefined;
      throw error;
    }
  }

  get #where(): string {
    return this.#options.key.toString();
  }

  #checkLease(): void {
    this.#lost.signal.throwIfAborted();
    if (!this.#options.lease.isValid) throw this.#lose('the lease was not renewed in time');
  }

  #lose(reason: string): CodedError {
    this.#timer?.cancel();
    const error = new LeadershipLostError(reason, { where: this.#where });
    this.#lost.abort(error);
    return error;
  }

  #renewLater(): void {
    this.#timer = this.#options.clock.timer(this.#options.renewMs, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const { lease } = this.#options;
    const isOver = await lease.renew().then(
      (isRenewed) => !isRenewed,
      () => !lease.isValid,
    );
    if (this.#lost.signal.aborted) return;
    if (isOver) {
      this.#lose('the lease has expired');
      return;
    }
    this.#renewLater();
    await this.#checkKey();
  }

  /** A leader without writes would not notice that its key is deleted. No answer of etcd proves nothing. */
  async #checkKey(): Promise<void> {
    const { cluster, key, revision } = this.#options;
    const request = cluster.read((kv) => kv.range({ key, keys_only: true }));
    const reply = await request.catch(() => undefined);
    if (!reply || reply.kvs[0]?.create_revision === revision || this.#lost.signal.aborted) return;
    this.#lose(KEY_DELETED);
  }
}
