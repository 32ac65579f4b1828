import type { KvStore } from '#datastore/api.ts';
import type { LinuxHost } from '#linux/api.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import type { Connect, Transport } from '#vpp/binapi/api.ts';
import type { Node } from './harness.ts';

/**
 * An agent process that crashes at a chosen point. Points are counted from `arm` on: one before
 * and one after each request to VPP, each call to Linux and each write to a store. At the end of
 * the process its connection to VPP is closed, and later calls have no effect.
 */
export class Life {
  readonly node: Node;
  readonly #transports = new Set<Transport>();
  readonly #stores: FaultInjectingStore[] = [];
  #armed = false;
  #endAt = Number.POSITIVE_INFINITY;
  #over = false;
  /** Number of points so far. */
  points = 0;
  /** The request at each point, for messages. */
  readonly names: string[] = [];

  constructor(node: Node) {
    this.node = node;
    node.vpp.onRequest = (when, { name }) => this.#pass(`${when} ${name}`);
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** Starts counting. @param endAt the crash point; the first is 1 */
  arm(endAt = Number.POSITIVE_INFINITY): void {
    this.#armed = true;
    this.#endAt = endAt;
  }

  /** Disables counting for the next process. */
  end(): void {
    this.node.vpp.onRequest = undefined;
  }

  /** The node as this process sees it. */
  environment() {
    return {
      cluster: this.#store(this.node.cluster),
      local: this.#store(this.node.local),
      linux: this.#linux(),
      connectVpp: this.#connect(this.node.vpp.connect()),
    };
  }

  #pass(name: string): void {
    if (this.#over) throw new Error('this life is over');
    if (!this.#armed) return;
    this.points++;
    this.names.push(name);
    if (this.points < this.#endAt) return;
    this.#over = true;
    for (const transport of this.#transports) transport.close();
    for (const store of this.#stores) store.disconnect();
    throw new Error('the life ends here');
  }

  #store(inner: KvStore): KvStore {
    const store = new FaultInjectingStore(inner);
    store.beforeWrite = ({ operation, keys }) => this.#pass(`before ${operation} ${keys[0]}`);
    store.afterWrite = ({ operation, keys }) => this.#pass(`after ${operation} ${keys[0]}`);
    this.#stores.push(store);
    return store;
  }

  #connect(inner: Connect): Connect {
    return async () => {
      if (this.#over) throw new Error('this life is over');
      const transport = await inner();
      this.#transports.add(transport);
      return transport;
    };
  }

  #linux(): LinuxHost {
    return new Proxy<LinuxHost>(this.node.linux, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return async (...args: unknown[]) => {
          this.#pass(`before ${String(name)}`);
          const answer: unknown = await method.apply(target, args);
          this.#pass(`after ${String(name)}`);
          return answer;
        };
      },
    });
  }
}
