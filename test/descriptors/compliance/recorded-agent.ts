/** An agent over a VPP whose messages are counted, for suites that watch what is asked for. */
import { after, afterEach, before, beforeEach } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { KeyedValue } from '#kvscheduler/api/descriptor.ts';
import type { VppBackend } from '#test/vpp/descriptors/backends.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';
import { TestAgent } from '../transitions/test-agent.ts';
import { FaultyClient } from './faulty-client.ts';

export function toMap(values: readonly KeyedValue[]): Map<string, object> {
  return new Map(values.map(({ key, value }) => [key, value]));
}

/** Of one suite, between whose tests nothing stays. */
export class RecordedAgent {
  #backend: VppBackend | undefined;
  #faulty: FaultyClient | undefined;
  #agent: TestAgent | undefined;

  /** To be called in the suite: it begins and ends with it. */
  constructor(start: () => Promise<VppBackend>) {
    before(async () => {
      this.#backend = await start();
      this.#faulty = new FaultyClient(this.client);
    });
    beforeEach(() => {
      this.#agent = this.#newAgent();
    });
    afterEach(async () => {
      await this.agent.resync(new Map());
      await this.agent.close();
    });
    after(() => this.#backend?.stop());
  }

  /** Past the faults. */
  get client(): VppClient {
    return this.#backend!.client;
  }

  get faulty(): FaultyClient {
    return this.#faulty!;
  }

  get agent(): TestAgent {
    return this.#agent!;
  }

  #newAgent(): TestAgent {
    const { faulty } = this;
    return new TestAgent({
      ...this.#backend!,
      descriptors: () =>
        vppDescriptors({ client: faulty.client, clock: systemClock, log: silentLogger }),
      cut: (n) => faulty.cut(n),
      get changes() {
        return faulty.changes;
      },
    });
  }

  /** Changes that were requested since the last call. */
  taken(): readonly string[] {
    return this.faulty.asked.splice(0);
  }

  /** Another agent wants these values. @returns its operations */
  async restart(...values: KeyedValue[]): Promise<readonly string[]> {
    await this.agent.close();
    this.#agent = this.#newAgent();
    this.taken();
    return this.agent.resync(toMap(values));
  }

  put(...values: KeyedValue[]): Promise<readonly string[]> {
    return this.agent.update(toMap(values));
  }

  async apply(...values: KeyedValue[]): Promise<void> {
    await this.agent.resync(toMap(values));
    await this.agent.assertSettled();
    this.taken();
  }
}
