import type { ILeaseKeepAliveResponse } from 'etcd3';
import type { Clock } from '#infra/clock/clock.ts';
import { StoreUnavailableError } from '../api.ts';
import type { Cluster } from './cluster.ts';

/** A lease of etcd: its keys are deleted when it was not renewed for its time to live. */
export class Lease {
  readonly id: string;
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #ttlMs: number;
  #validUntil: number;

  /** @param ttl seconds */
  static async grant(cluster: Cluster, clock: Clock, ttl: number): Promise<Lease> {
    const sent = clock.monotonic();
    await cluster.probe();
    const { ID } = await cluster.current.lease.leaseGrant({ TTL: ttl });
    return new Lease(cluster, clock, ID, ttl * 1000, sent);
  }

  private constructor(cluster: Cluster, clock: Clock, id: string, ttlMs: number, sent: number) {
    this.#cluster = cluster;
    this.#clock = clock;
    this.id = id;
    this.#ttlMs = ttlMs;
    this.#validUntil = sent + ttlMs;
  }

  get hexId(): string {
    return BigInt(this.id).toString(16);
  }

  /** Counted from when the last answered request was sent, so never longer than in etcd. */
  get isValid(): boolean {
    return this.#clock.monotonic() < this.#validUntil;
  }

  /** @returns false: etcd has ended the lease. @throws when etcd does not answer */
  async renew(): Promise<boolean> {
    const sent = this.#clock.monotonic();
    const endpoint = this.#cluster.current;
    try {
      const { TTL } = await this.#keepAlive();
      if (Number(TTL) <= 0) return false;
      this.#validUntil = sent + this.#ttlMs;
      return true;
    } catch (thrown) {
      this.#cluster.failed(endpoint);
      throw thrown;
    }
  }

  /** Ends the lease and deletes its keys; if that fails, they end with the time to live. */
  async revoke(): Promise<void> {
    await this.#cluster.current.lease.leaseRevoke({ ID: this.id }).catch(() => undefined);
  }

  /** One stream for each renewal: at most one request is open, and a broken stream loses nothing. */
  async #keepAlive(): Promise<ILeaseKeepAliveResponse> {
    const { address, lease } = this.#cluster.current;
    const stream = await lease.leaseKeepAlive();
    const reply = Promise.withResolvers<ILeaseKeepAliveResponse>();
    stream.on('data', (response) => reply.resolve(response));
    stream.on('error', (error) => reply.reject(error));
    stream.on('end', () => reply.reject(new Error('etcd ended the stream of the lease')));
    const limit = this.#clock.timer(this.#ttlMs / 2, () =>
      reply.reject(
        new StoreUnavailableError('no reply to the renewal of a lease', { where: address }),
      ),
    );
    try {
      stream.write({ ID: this.id });
      return await reply.promise;
    } finally {
      limit.cancel();
      stream.cancel();
    }
  }
}
