import type { IResponseHeader, KVClient } from 'etcd3';
import type { DatabaseIdentity } from './database-identity.ts';
import type { Endpoint } from './endpoint.ts';
import { isTimeout, isUnavailable, storeError } from './errors.ts';

interface EtcdResponse {
  readonly header: IResponseHeader;
}

type Request<T extends EtcdResponse> = (kv: KVClient) => Promise<T>;

/**
 * The endpoints of one etcd cluster. Calls stay with an endpoint as long as it answers. A read is
 * repeated at the others; a write is made once, and only where the call before was answered.
 */
export class Cluster {
  readonly #endpoints: readonly Endpoint[];
  readonly #lineage: DatabaseIdentity;
  #current = 0;
  #answered = false;

  constructor(endpoints: readonly Endpoint[], lineage: DatabaseIdentity) {
    this.#endpoints = endpoints;
    this.#lineage = lineage;
  }

  get current(): Endpoint {
    return this.#endpoints[this.#current]!;
  }

  /** The endpoint does not serve: the next call tries another. */
  failed(endpoint: Endpoint): void {
    if (endpoint !== this.current) return;
    this.#answered = false;
    this.#current = (this.#current + 1) % this.#endpoints.length;
  }

  async read<T extends EtcdResponse>(request: Request<T>): Promise<T> {
    // One more than there are endpoints: that a connection has broken often shows in the call.
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
      if (isUnavailable(thrown)) throw storeError(thrown, address, '; it may have been written');
      throw thrown;
    }
  }

  async probe(): Promise<void> {
    await this.read((kv) => kv.range({ key: Buffer.from('/probe-etcd-connection') }));
  }

  close(): void {
    for (const endpoint of this.#endpoints) endpoint.close();
  }

  async #call<T extends EtcdResponse>(request: Request<T>): Promise<T> {
    const endpoint = this.current;
    const before = this.#lineage.highest;
    try {
      const answer = await request(endpoint.kv);
      this.#lineage.observe(before, answer.header);
      if (endpoint === this.current) this.#answered = true;
      return answer;
    } catch (thrown) {
      if (isUnavailable(thrown)) this.failed(endpoint);
      throw thrown;
    }
  }
}
