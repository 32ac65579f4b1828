import type { KVClient } from 'etcd3';
import type { DatabaseIdentity } from './database-identity.ts';
import type { Endpoint } from './endpoint.ts';
import { isTimeout, isUnavailable, storeError } from './errors.ts';
import { type EtcdResponse, latest } from './requests.ts';

type Request<T extends EtcdResponse> = (kv: KVClient) => Promise<T>;

/**
 * The endpoints of one etcd cluster. Calls use the same endpoint as long as it answers. A failed read
 * is retried at the others; a write is sent once, and only to an endpoint that has answered the
 * previous call.
 */
export class Cluster {
  readonly #endpoints: readonly Endpoint[];
  readonly #identity: DatabaseIdentity;
  #current = 0;
  #answered = false;

  constructor(endpoints: readonly Endpoint[], identity: DatabaseIdentity) {
    this.#endpoints = endpoints;
    this.#identity = identity;
  }

  get current(): Endpoint {
    return this.#endpoints[this.#current]!;
  }

  /** The endpoint has failed: the next call uses another one. */
  failed(endpoint: Endpoint): void {
    if (endpoint !== this.current) return;
    this.#answered = false;
    this.#current = (this.#current + 1) % this.#endpoints.length;
  }

  async read<T extends EtcdResponse>(request: Request<T>): Promise<T> {
    // One attempt more than endpoints, because a broken connection is often detected by the call.
    for (let left = this.#endpoints.length; ; left--) {
      try {
        return await this.#call(request);
      } catch (thrown) {
        const last = left === 0 || (left === 1 && isTimeout(thrown));
        if (last || !isUnavailable(thrown)) throw thrown;
      }
    }
  }

  async write<T extends EtcdResponse>(request: Request<T>): Promise<T> {
    if (!this.#answered) await this.probe();
    const { address } = this.current;
    try {
      return await this.#call(request);
    } catch (thrown) {
      if (isUnavailable(thrown))
        throw storeError(thrown, address, '; the write may have taken place');
      throw thrown;
    }
  }

  async probe(): Promise<void> {
    await this.read(latest);
  }

  close(): void {
    for (const endpoint of this.#endpoints) endpoint.close();
  }

  async #call<T extends EtcdResponse>(request: Request<T>): Promise<T> {
    const endpoint = this.current;
    const before = this.#identity.highest;
    try {
      const answer = await request(endpoint.kv);
      this.#identity.observe(before, answer.header);
      if (endpoint === this.current) this.#answered = true;
      return answer;
    } catch (thrown) {
      if (isUnavailable(thrown)) this.failed(endpoint);
      throw thrown;
    }
  }
}
