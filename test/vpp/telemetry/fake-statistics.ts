import type { StatsPort } from '#plugins/controller/api/ports/stats.ts';

type Interface = Awaited<ReturnType<StatsPort['interfaces']>>[number];

const zeros = {
  rxPackets: 0n,
  rxBytes: 0n,
  txPackets: 0n,
  txBytes: 0n,
  drops: 0n,
  punts: 0n,
  ip4: 0n,
  ip6: 0n,
  rxNoBuffer: 0n,
  rxMiss: 0n,
  rxErrors: 0n,
  txErrors: 0n,
};

export function counters(
  swIfIndex: number,
  internalName: string,
  some: Partial<Interface> = {},
): Interface {
  return { swIfIndex, internalName, ...zeros, ...some };
}

/** Statistics that a test sets; `failure` makes every call reject. */
export class FakeStatistics implements StatsPort {
  failure: Error | undefined;
  calls = 0;
  found: {
    interfaces: Awaited<ReturnType<StatsPort['interfaces']>>;
    nodeErrors: Awaited<ReturnType<StatsPort['nodeErrors']>>;
    nodes: Awaited<ReturnType<StatsPort['nodes']>>;
    system: Awaited<ReturnType<StatsPort['system']>>;
    natSessions: Awaited<ReturnType<StatsPort['natSessions']>>;
    natPackets: Awaited<ReturnType<StatsPort['natPackets']>>;
  } = {
    interfaces: [],
    nodeErrors: [],
    nodes: [],
    system: { workers: 0, vectorRates: [], loopRates: [], heaps: [], bufferPools: [] },
    natSessions: { sessions: [], limit: 0 },
    natPackets: [],
  };

  interfaces = () => this.#answer('interfaces');
  nodeErrors = () => this.#answer('nodeErrors');
  nodes = () => this.#answer('nodes');
  system = () => this.#answer('system');
  natSessions = () => this.#answer('natSessions');
  natPackets = () => this.#answer('natPackets');

  async #answer<Name extends keyof FakeStatistics['found']>(
    name: Name,
  ): Promise<FakeStatistics['found'][Name]> {
    this.calls++;
    if (this.failure) throw this.failure;
    return this.found[name];
  }
}
