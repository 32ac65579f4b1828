/** The state of Kubernetes as an agent has it: its watcher of the datastore, and what that reports. */
import type { KvStore } from '#datastore/api.ts';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import { REFLECTOR_PREFIX, resources } from '#kubernetes/resources/resources.ts';
import { valueText } from '#kubernetes/resources/value-text.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import { DbResync, KubeStateChange } from '#plugins/controller/api/events.ts';
import type { DbWatcher } from '#plugins/dbwatcher/api.ts';
import { createDbWatcher } from '#plugins/dbwatcher/dbwatcher.ts';
import { idleLoop } from '#test/support/idle-loop.ts';
import { MemoryStore } from '#test/support/memory-store.ts';
import type { Records } from './reflected-state.ts';

export class AgentView implements AsyncDisposable {
  /** By key with the prefix. */
  readonly #records = new Map<string, string>();
  /** Records of nodes that etcd has lost: an agent keeps them for two minutes. */
  #retained: ReadonlySet<string> = new Set();
  readonly #store: KvStore;
  readonly #watcher: DbWatcher;

  /** @param store of its own: it is closed with the view */
  constructor(store: KvStore) {
    this.#store = store;
    this.#watcher = createDbWatcher({
      loop: { ...idleLoop, push: (event) => this.#take(event) },
      cluster: store,
      mirror: new MemoryStore(),
      nodeName: 'node1',
      agentPrefix: '/vnf-agent/node1/',
      config: {
        delayLocalResync: '1h',
        remoteDBProbingInterval: '1s',
        remoteDBCompareInterval: '1h',
      },
      clock: systemClock,
      random: seededRandom(1),
      log: silentLogger,
      reportState: () => undefined,
    });
    this.#watcher.start();
  }

  /** @param existing records: of those that etcd has lost, only these count */
  records(existing: Records): Records {
    const shown = [...this.#records].filter(
      ([key]) => existing.has(key) || !this.#retained.has(key),
    );
    return new Map(shown);
  }

  #take(event: Event): void {
    if (DbResync.is(event)) {
      this.#records.clear();
      const { retained = [] } = event.payload;
      this.#retained = new Set(retained.map((key) => `${REFLECTOR_PREFIX}${key}`));
      for (const [resource, values] of Object.entries(event.payload.kubeState))
        for (const [key, value] of Object.entries(values)) this.#set(resource, key, value);
    } else if (KubeStateChange.is(event)) {
      const { resource, key, current } = event.payload;
      this.#set(resource, key, current);
    }
  }

  #set(resource: string, key: string, value: object | undefined): void {
    const full = `${REFLECTOR_PREFIX}${key}`;
    const known = resources[resource as keyof typeof resources];
    if (value === undefined) this.#records.delete(full);
    else this.#records.set(full, valueText(known as never, value as never));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watcher.close();
    await this.#store.close();
  }
}
