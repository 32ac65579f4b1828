/**
 * A process with many agents that have no event loop: each is the watcher of an agent, with the same watches, reads,
 * comparisons and decoding. Messages of the parent are the text that the last change has; the reply is the state.
 */
import { EtcdStore } from '#datastore/etcd/store.ts';
import { seededRandom } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { Namespace } from '#kubernetes/models/namespace.ts';
import { DbResync, KubeStateChange } from '#plugins/controller/api/events.ts';
import type { DbWatcher } from '#plugins/dbwatcher/api.ts';
import { createDbWatcher } from '#plugins/dbwatcher/dbwatcher.ts';
import { idleLoop } from '#test/support/idle-loop.ts';
import { type LightAgentsArgs, type LightAgentsState, MARKER } from './messages.ts';

const { count, first, ports, withoutSpread }: LightAgentsArgs = JSON.parse(process.argv[2]!);

let changes = 0;

class LightAgent {
  readonly watcher: DbWatcher;
  /** Of the namespace that is changed last. */
  turn: string | undefined;

  constructor(number: number) {
    const endpoints = ports.map((_, at) => `127.0.0.1:${ports[(number + at) % ports.length]}`);
    const random = seededRandom(number + 1);
    this.watcher = createDbWatcher({
      loop: {
        ...idleLoop,
        push: (event) => {
          if (KubeStateChange.is(event)) {
            changes++;
            if (event.payload.resource === 'namespace') this.#see(event.payload.current);
          } else if (DbResync.is(event))
            for (const one of Object.values(event.payload.kubeState['namespace'] ?? {}))
              this.#see(one);
        },
      },
      cluster: new EtcdStore({ endpoints }, systemClock),
      mirror: undefined,
      nodeName: `light${number}`,
      agentPrefix: `/vnf-agent/light${number}/`,
      config: {
        delayLocalResync: '1h',
        remoteDBProbingInterval: '3s',
        remoteDBCompareInterval: '5m',
      },
      clock: systemClock,
      random: withoutSpread ? { ...random, next: () => 0 } : random,
      log: silentLogger,
      reportState: () => undefined,
    });
    this.watcher.start();
  }

  #see(namespace: object | undefined): void {
    const { name, label } = (namespace ?? {}) as Partial<Namespace>;
    if (name === MARKER) this.turn = label?.find(({ key }) => key === 'version')?.value;
  }
}

const agents = Array.from({ length: count }, (_, at) => new LightAgent(first + at));

process.on('message', (turn: string) => {
  const state: LightAgentsState = {
    watching: agents.filter(({ watcher }) => watcher.status.watching).length,
    current: agents.filter((agent) => agent.turn === turn).length,
    resyncs: agents.reduce((sum, { watcher }) => sum + watcher.status.resyncs, 0),
    changes,
  };
  process.send!(state);
});
