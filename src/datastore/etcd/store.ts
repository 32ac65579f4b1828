import type { IKeyValue, IRangeRequest, IRangeResponse, IRequestOp, ITxnResponse } from 'etcd3';
import { Backoff } from '#infra/clock/backoff.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { systemRandom } from '#infra/clock/system.ts';
import { CodedError } from '#infra/errors/errors.ts';
import type {
  KvEntry,
  KvPart,
  KvSnapshot,
  KvStore,
  Revision,
  Watch,
  WatchHandlers,
} from '../api.ts';
import { StoreClosedError, StoreUnavailableError } from '../api.ts';
import type { Election } from '../election.ts';
import { keyAfter, prefixEnd, prefixStart } from '../keys.ts';
import { Certificates } from './certificates.ts';
import { Cluster } from './cluster.ts';
import { DatabaseIdentity, tokenOf } from './database-identity.ts';
import { type ElectionOptions, EtcdElection } from './election.ts';
import { Endpoint } from './endpoint.ts';
import { isCompacted, isTimeout, storeError } from './errors.ts';
import { addressesOf, type EtcdOptions } from './options.ts';
import { RangeSteps } from './range-steps.ts';
import { requestOf } from './requests.ts';
import { EtcdWatch } from './watch.ts';

/** Keys per page of `list`: decoding a page takes some milliseconds. */
const PAGE = 1000;
/** Attempts of a page that does not come in time, and the longest delay between two. */
const PAGE_ATTEMPTS = 5;
const MAX_PAGE_DELAY_MS = 30_000;
/** Attempts of a list whose revision is compacted meanwhile. */
const LIST_ATTEMPTS = 3;
/** Attempts of a put-if-absent whose replies are lost. */
const CREATE_ATTEMPTS = 5;

/** etcd v3. Writes are never retried implicitly. */
export class EtcdStore implements KvStore {
  readonly name: string;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #identity = new DatabaseIdentity();
  readonly #cluster: Cluster;
  readonly #operationTimeoutMs: number;
  readonly #reconnectIntervalMs: number;
  readonly #watches = new Set<Watch>();
  readonly #closing = new AbortController();

  /**
   * Connects with the first call, so the database may be unavailable before.
   * @param clock real time: it measures the deadlines of network calls
   * @throws StoreConfigError
   */
  constructor(options: EtcdOptions, clock: Clock, random = systemRandom) {
    const { operationTimeoutMs = 3000, reconnectIntervalMs = 2000 } = options;
    const { secure, addresses } = addressesOf(options);
    const certificates = new Certificates(secure, options.tls);
    const endpoints = addresses.map(
      (address) => new Endpoint(address, certificates, clock, operationTimeoutMs),
    );
    this.name = `etcd ${options.endpoints.join(',')}`;
    this.#clock = clock;
    this.#random = random;
    this.#cluster = new Cluster(endpoints, this.#identity);
    this.#operationTimeoutMs = operationTimeoutMs;
    this.#reconnectIntervalMs = reconnectIntervalMs;
  }

  get(key: string): Promise<string | undefined> {
    return this.#run(async () => {
      const { kvs } = await this.#cluster.read((kv) => kv.range({ key: Buffer.from(key) }));
      return kvs[0]?.value.toString();
    });
  }

  list(prefix: string): Promise<KvSnapshot> {
    return this.#run(async () => {
      for (let attempt = 1; ; attempt++) {
        const entries: KvEntry[] = [];
        try {
          const revision = await this.#pages(prefix, (page) => entries.push(...page));
          return { entries, revision };
        } catch (thrown) {
          if (attempt === LIST_ATTEMPTS || !isCompacted(thrown)) throw thrown;
        }
      }
    });
  }

  part(prefix: string, after: string | undefined, limit: number): Promise<KvPart> {
    return this.#run(async () => {
      const key = after === undefined ? prefixStart(prefix) : keyAfter(Buffer.from(after));
      const range = { key, range_end: prefixEnd(prefix), limit };
      const { kvs, more } = await this.#cluster.read((kv) => kv.range(range));
      return { entries: kvs.map(entryOf), isLast: !more };
    });
  }

  /**
   * Lists a prefix in pages, all at one revision, without holding more than one of them. Rejects when the
   * revision is compacted meanwhile.
   * @returns the start revision of a watch that delivers all changes after it
   */
  pages(prefix: string, onPage: (entries: readonly KvEntry[]) => void): Promise<Revision> {
    return this.#run(() => this.#pages(prefix, onPage));
  }

  put(key: string, value: string): Promise<void> {
    return this.#run(async () => {
      const bytes = Buffer.from(key);
      const { header } = await this.#cluster.write((kv) =>
        kv.put({ key: bytes, value: Buffer.from(value) }),
      );
      this.#identity.remember(bytes, Number(header.revision));
    });
  }

  async putAll(entries: ReadonlyMap<string, string | undefined>): Promise<void> {
    const success = [...entries].map(([key, value]) => requestOf(key, value));
    if (success.length === 0) return;
    await this.#run(() => this.#cluster.write((kv) => kv.txn({ success })));
  }

  putIfAbsent(key: string, value: string): Promise<{ created: boolean; value: string }> {
    return this.#run(async () => {
      const bytes = Buffer.from(key);
      const before = await this.#cluster.read((kv) => kv.range({ key: bytes }));
      const present = before.kvs[0];
      if (present) return { created: false, value: present.value.toString() };
      const { existing, lostReply } = await this.#create(bytes, value);
      if (!existing) return { created: true, value };
      // Another client has created the key since the read, or this call has, and the reply was lost:
      // then the first value of the key is the value of this call.
      const created =
        lostReply &&
        Number(existing.create_revision) > Number(before.header.revision) &&
        (await this.#firstValue(bytes, existing)) === value;
      return { created, value: existing.value.toString() };
    });
  }

  compareAndSwap(key: string, expected: string, value: string): Promise<boolean> {
    return this.#compareAnd(key, expected, requestOf(key, value));
  }

  compareAndDelete(key: string, expected: string): Promise<boolean> {
    return this.#compareAnd(key, expected, requestOf(key, undefined));
  }

  delete(key: string): Promise<boolean> {
    return this.#run(async () => {
      const { deleted } = await this.#cluster.write((kv) =>
        kv.deleteRange({ key: Buffer.from(key) }),
      );
      return deleted !== '0';
    });
  }

  watch(prefix: string, from: Revision, handlers: WatchHandlers): Watch {
    this.#open();
    const watch = new EtcdWatch({
      cluster: this.#cluster,
      identity: this.#identity,
      clock: this.#clock,
      operationTimeoutMs: this.#operationTimeoutMs,
      reconnectIntervalMs: this.#reconnectIntervalMs,
      prefix,
      from,
      handlers,
      ended: () => this.#watches.delete(watch),
    });
    this.#watches.add(watch);
    return watch;
  }

  /** Needs no `close`: the election ends with the signal of the campaign. */
  election(options: ElectionOptions): Election {
    return new EtcdElection(this.#cluster, this.#clock, options);
  }

  identity(): Promise<string> {
    return this.#run(async () => {
      await this.#cluster.read((kv) => this.#identity.verify(kv));
      return String(this.#identity.epoch);
    });
  }

  probe(): Promise<void> {
    return this.#run(() => this.#cluster.probe());
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const watch of [...this.#watches]) watch.close();
    this.#cluster.close();
  }

  #open(): void {
    if (this.#closing.signal.aborted)
      throw new StoreClosedError('the store is closed', { where: this.name });
  }

  async #run<T>(action: () => Promise<T>): Promise<T> {
    this.#open();
    try {
      return await action();
    } catch (thrown) {
      this.#open();
      throw thrown instanceof CodedError ? thrown : storeError(thrown, this.name);
    }
  }

  /** All pages at the revision of the first. */
  async #pages(prefix: string, onPage: (entries: readonly KvEntry[]) => void): Promise<Revision> {
    const end = prefixEnd(prefix);
    const steps = new RangeSteps(end, PAGE);
    let key = prefixStart(prefix);
    let epoch = 0;
    let revision = 0;
    for (;;) {
      const rangeEnd = steps.endAfter(key);
      const range = { key, range_end: rangeEnd, limit: PAGE, revision };
      const page: IRangeResponse = await this.#page(range);
      if (revision === 0) {
        revision = Number(page.header.revision);
        epoch = this.#identity.epoch;
      }
      for (const kv of page.kvs) this.#identity.remember(kv.key, Number(kv.mod_revision));
      onPage(page.kvs.map(entryOf));
      const [first, last] = [page.kvs[0], page.kvs.at(-1)];
      if (page.more && first && last) {
        steps.sawPage(Number(page.count), first.key, last.key);
        key = keyAfter(last.key);
      } else if (rangeEnd.equals(end)) break;
      else {
        steps.sawEnd(page.kvs.length);
        key = rangeEnd;
      }
    }
    if (this.#identity.epoch !== epoch)
      throw new StoreUnavailableError('the database was replaced during the list', {
        where: this.name,
      });
    return tokenOf({ epoch, revision, partial: 0 });
  }

  /**
   * etcd is too busy to send a page in time when all agents of a large cluster read at once. To begin the list again would
   * cost it even more, so that none of them would ever have read everything: it is asked for the same page again, by each
   * at another time. Whether it answers at all, the first page shows.
   */
  async #page(range: IRangeRequest & { readonly revision: number }): Promise<IRangeResponse> {
    const delays = { firstMs: this.#operationTimeoutMs, maxMs: MAX_PAGE_DELAY_MS };
    const backoff = new Backoff(delays, this.#random);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#cluster.read((kv) => kv.range(range));
      } catch (thrown) {
        const isFirst = range.revision === 0;
        if (isFirst || attempt === PAGE_ATTEMPTS || !isTimeout(thrown)) throw thrown;
      }
      await this.#clock.sleep(backoff.next(), this.#closing.signal);
    }
  }

  /**
   * Creates the key unless it exists. After a lost reply the request is retried, which is safe: if the
   * first one created the key, the second one finds it.
   * @returns the existing entry; undefined when the last request created the key
   */
  async #create(key: Buffer, value: string) {
    let lostReply = false;
    for (let attempt = 1; ; attempt++) {
      try {
        const reply = await this.#cluster.write((kv) =>
          kv.txn({
            compare: [{ key, target: 'Create', result: 'Equal', create_revision: 0 }],
            success: [{ request_put: { key, value: Buffer.from(value) } }],
            failure: [{ request_range: { key } }],
          }),
        );
        return { existing: existingIn(reply), lostReply };
      } catch (thrown) {
        if (attempt === CREATE_ATTEMPTS || !(thrown instanceof StoreUnavailableError)) throw thrown;
        lostReply = true;
      }
      await this.#clock.sleep(100 * attempt);
    }
  }

  /** The value with which an existing key was created. */
  async #firstValue(key: Buffer, existing: IKeyValue): Promise<string | undefined> {
    if (existing.version === '1') return existing.value.toString();
    const { kvs } = await this.#cluster.read((kv) =>
      kv.range({ key, revision: existing.create_revision }),
    );
    return kvs[0]?.value.toString();
  }

  #compareAnd(key: string, expected: string, request: IRequestOp): Promise<boolean> {
    return this.#run(async () => {
      const { succeeded } = await this.#cluster.write((kv) =>
        kv.txn({
          compare: [
            {
              key: Buffer.from(key),
              target: 'Value',
              result: 'Equal',
              value: Buffer.from(expected),
            },
          ],
          success: [request],
        }),
      );
      return succeeded;
    });
  }
}

function entryOf({ key, value }: IKeyValue): KvEntry {
  return { key: key.toString(), value: value.toString() };
}

function existingIn(reply: ITxnResponse): IKeyValue | undefined {
  return reply.succeeded ? undefined : reply.responses[0]?.response_range.kvs[0];
}
