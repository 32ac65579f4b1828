/** A node of the simulated cluster: its VPP and kernel survive its agent. */

import { seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { SimLinux } from '#simulator/linux/linux.ts';
import { SimSocketTable } from '#simulator/linux/socket-table.ts';
import { SimVpp } from '#simulator/vpp/vpp.ts';
import {
  type AgentOptions,
  makeNode,
  type Node,
  type RunningAgent,
  startAgent,
} from '#test/cmd/agent/harness.ts';
import { FaultInjectingStore } from '#test/support/fault-injecting-store.ts';
import type { Transport } from '#vpp/binapi/api.ts';
import type { NodeName } from '../service-cluster.ts';
import { ShiftedClock } from './shifted-clock.ts';

export class SimulatedNode {
  readonly name: NodeName;
  readonly node: Node;
  /** Of VPP. */
  readonly clock = new ShiftedClock();
  readonly #options: AgentOptions;
  readonly #sockets: SimSocketTable | undefined;
  #running: RunningAgent | undefined;
  #kill: () => void = () => undefined;

  /** @param hasSockets whether its kernel translates services at sockets */
  constructor(
    name: NodeName,
    cluster: Node['cluster'],
    hasSockets: boolean,
    options: AgentOptions,
  ) {
    const random = seededRandom(Number(name.at(-1)));
    const linux = new SimLinux(random);
    const vpp = new SimVpp({ host: linux, clock: this.clock, random, log: silentLogger });
    this.name = name;
    this.node = { ...makeNode(), cluster, linux, vpp };
    this.#options = { ...options, label: name };
    this.#sockets = hasSockets ? new SimSocketTable(random, this.clock) : undefined;
  }

  /** undefined: the agent does not run. */
  get agent(): RunningAgent | undefined {
    return this.#running;
  }

  async start(): Promise<void> {
    const { linux, vpp } = this.node;
    const stores = {
      cluster: new FaultInjectingStore(this.node.cluster),
      local: new FaultInjectingStore(this.node.local),
    };
    const transports = new Set<Transport>();
    let isAlive = true;
    const connect = vpp.connect();
    this.#kill = () => {
      isAlive = false;
      for (const transport of transports) transport.close();
      for (const store of Object.values(stores)) store.disconnect();
    };
    this.#running = await startAgent(this.node, {
      ...this.#options,
      environment: {
        ...stores,
        linux,
        socketTable: this.#sockets,
        connectVpp: async () => {
          if (!isAlive) throw new Error('the process was killed');
          const transport = await connect();
          transports.add(transport);
          return transport;
        },
      },
    });
  }

  /** Ends the agent. After SIGKILL it changes nothing any more. */
  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (signal === 'SIGKILL') this.#kill();
    await running?.stop().catch((error: unknown) => {
      if (signal === 'SIGTERM') throw error;
    });
  }
}
