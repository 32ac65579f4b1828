import type { Clock } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Revision, Watch, WatchHandlers } from '../api.ts';
import { WatchLostError } from '../api.ts';
import type { Cluster } from './cluster.ts';
import { type DatabaseIdentity, positionOf } from './database-identity.ts';
import { WatchProgress } from './watch-progress.ts';
import { WatchStream } from './watch-stream.ts';

export interface EtcdWatchOptions {
  readonly cluster: Cluster;
  readonly identity: DatabaseIdentity;
  readonly clock: Clock;
  readonly operationTimeoutMs: number;
  readonly reconnectIntervalMs: number;
  readonly prefix: string;
  readonly from: Revision;
  readonly handlers: WatchHandlers;
  /** Called when the watch is closed or lost. */
  ended(): void;
}

/**
 * Ends a stream after one message of a backlog; the next stream requests the rest. After the first
 * message `etcd grpc-proxy` takes the revision of its header for delivered: it may join the
 * stream with one of another client that is that far, and the rest of the backlog never arrives.
 */
class BacklogMessage extends Error {}

/** A watch that reconnects: one stream after the other. */
export class EtcdWatch implements Watch {
  readonly #options: EtcdWatchOptions;
  readonly #ending = new AbortController();
  readonly #epoch: number;
  readonly #replay: WatchProgress;

  constructor(options: EtcdWatchOptions) {
    const position = positionOf(options.from);
    this.#options = options;
    this.#epoch = position.epoch;
    this.#replay = new WatchProgress(position);
    void this.#run();
  }

  close(): void {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    this.#options.ended();
  }

  async #run(): Promise<void> {
    const { clock, cluster, reconnectIntervalMs } = this.#options;
    const { signal } = this.#ending;
    // No handler is called from inside watch().
    await Promise.resolve();
    for (let failures = 0; !signal.aborted; failures++) {
      const endpoint = cluster.current;
      const started = clock.monotonic();
      try {
        this.#assertSameDatabase();
        await this.#follow();
      } catch (thrown) {
        if (signal.aborted) return;
        if (thrown instanceof BacklogMessage) {
          failures = 0;
          continue;
        }
        if (thrown instanceof WatchLostError) {
          this.#lost(thrown);
          return;
        }
        cluster.failed(endpoint);
      }
      // After a longer stream the next one is opened without delay.
      if (clock.monotonic() - started > reconnectIntervalMs) failures = 0;
      const wait = Math.min(reconnectIntervalMs, 50 * 2 ** failures);
      await clock.sleep(wait, signal).catch(() => undefined);
    }
  }

  /** Reads one stream to its end; always rejects. */
  async #follow(): Promise<void> {
    const { cluster, clock, identity, operationTimeoutMs, prefix, handlers } = this.#options;
    const endpoint = cluster.current;
    const { connection } = endpoint;
    const stream = new WatchStream(await endpoint.watch.watch(), this.#ending.signal);
    const verify = async () => {
      await identity.verify(endpoint.kv);
      this.#assertSameDatabase();
      if (endpoint.connection !== connection) throw new Error('the connection had no answers');
    };
    await stream
      .create(prefix, this.#replay.next, clock, operationTimeoutMs)
      // a call detects whether the connection is broken
      .finally(() => verify().catch((thrown) => stream.end(thrown)));
    stream.detectSilence(clock, operationTimeoutMs, verify);
    await stream.read((response) => {
      const changes = this.#replay.accept(response, this.#epoch);
      for (const event of response.events)
        if (event.type === 'Put') identity.remember(event.kv.key, Number(event.kv.mod_revision));
      if (changes.length > 0) handlers.onChanges(changes);
      if (this.#replay.mayBeBehind(response)) stream.end(new BacklogMessage());
    });
  }

  /** @throws WatchLostError when the position belongs to a database that was replaced */
  #assertSameDatabase(): void {
    if (this.#epoch !== this.#options.identity.epoch)
      throw new WatchLostError('the database was wiped, restored or replaced');
  }

  #lost(reason: Error): void {
    const { handlers, prefix } = this.#options;
    this.close();
    handlers.onLost(new WatchLostError(errorText(reason), { where: prefix, cause: reason }));
  }
}
