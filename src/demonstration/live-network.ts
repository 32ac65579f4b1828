/** The network of the running nodes, as packets find it. */
import type { Clock } from '#infra/clock/clock.ts';
import { clusterSnapshot } from '#packet-trace/cluster.ts';
import { type TraceMemory, traceMemory } from '#packet-trace/memory.ts';
import { type NodeSnapshot, nodeValues } from '#packet-trace/node-document.ts';
import type { Snapshot } from '#packet-trace/snapshot.ts';
import type { SimVpp } from '#simulator/vpp/vpp.ts';
import { outside } from './outside.ts';
import { NIC } from './simulated-environment.ts';

/** Changes that the agents do not notice, such as those by the command line of VPP, are found after this time. */
const LONGEST_AGE_MS = 20_000;

export interface TrafficNode {
  readonly name: string;
  readonly vpp: Pick<SimVpp, 'isRunning' | 'memory' | 'traffic'>;
  /** Number of events that the agent has handled: without another one the network has not changed. */
  readonly eventCount: () => number;
  readonly readSnapshot: () => Promise<NodeSnapshot>;
}

export class LiveNetwork {
  readonly #nodes: readonly TrafficNode[];
  readonly #clock: Clock;
  #last: { readonly snapshot: Snapshot; readonly events: number; readonly at: number } | undefined;

  constructor(nodes: readonly TrafficNode[], clock: Clock) {
    this.#nodes = nodes;
    this.#clock = clock;
  }

  /** Reads it when it may have changed. @throws what `readSnapshot` throws */
  async snapshot(): Promise<Snapshot> {
    const events = this.#nodes.reduce((sum, { eventCount }) => sum + eventCount(), 0);
    const now = this.#clock.monotonic();
    const last = this.#last;
    if (last?.events === events && now - last.at < LONGEST_AGE_MS) return last.snapshot;
    const documents: NodeSnapshot[] = [];
    for (const { readSnapshot } of this.#nodes) documents.push(await readSnapshot());
    const snapshot = clusterSnapshot({ nodes: documents.map(nodeValues), others: [outside] });
    this.#last = { snapshot, events, at: now };
    return snapshot;
  }

  /** Those of the VPPs in the network between the nodes; empty for a node that is alone. */
  async nodeAddresses(): Promise<string[]> {
    const { devices } = await this.snapshot();
    return this.#nodes.flatMap(({ name }) => {
      const [cidr] = devices.get(`${name}/vpp`)?.interfaces.get(NIC)?.addresses ?? [];
      return cidr === undefined ? [] : [cidr.replace(/\/.*/, '')];
    });
  }

  /** For the packets of one connection: sessions of VPPs stay in these, until they end them. */
  memory(): TraceMemory {
    const others = traceMemory();
    return (device) => {
      const vpp = this.vppOf(device);
      return vpp?.isRunning ? vpp.memory : others(device);
    };
  }

  /** @param device name in the snapshot */
  vppOf(device: string): TrafficNode['vpp'] | undefined {
    return this.#nodes.find(({ name }) => device === `${name}/vpp`)?.vpp;
  }
}
