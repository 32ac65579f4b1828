/** An agent’s scheduler over a VPP that others use as well. */
import assert from 'node:assert/strict';
import { after, afterEach, before } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { AnyDescriptor, KeyedValue } from '#kvscheduler/api/descriptor.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';
import { readBack } from './driver.ts';
import { hostLinkStub } from './host-link-stub.ts';

export interface SharedVpp {
  readonly client: VppClient;
  /** A link of the kernel that VPP can bind to. */
  readonly hostLink: string;
  stop(): Promise<void>;
}

export function entries(values: readonly KeyedValue[]): (readonly [string, object])[] {
  return values.map(({ key, value }) => [key, value] as const);
}

/** Of one suite, between whose tests nothing stays. */
export class SharedVppAgent {
  #vpp: SharedVpp | undefined;
  #scheduler: Scheduler | undefined;

  /** To be called in the suite: it begins and ends with it. */
  constructor(start: () => Promise<SharedVpp>) {
    before(async () => {
      this.#vpp = await start();
      await this.restart();
    });
    afterEach(() => this.commit('full-resync', []));
    after(async () => {
      await this.#scheduler?.close();
      await this.#vpp?.stop();
    });
  }

  get client(): VppClient {
    return this.#vpp!.client;
  }

  get hostLink(): string {
    return this.#vpp!.hostLink;
  }

  descriptors(): readonly AnyDescriptor[] {
    const needs = { client: this.client, clock: systemClock, log: silentLogger };
    return [...vppDescriptors(needs), hostLinkStub];
  }

  /** Another agent takes over. */
  async restart(): Promise<void> {
    await this.#scheduler?.close();
    const descriptors = this.descriptors();
    this.#scheduler = createScheduler({ descriptors, clock: systemClock, log: silentLogger });
  }

  /** @returns the operations, all of which succeeded */
  async commit(
    mode: 'full-resync' | 'update',
    values: readonly (readonly [string, object | null])[],
  ): Promise<readonly { readonly operation: string; readonly key: string }[]> {
    const { seqNum, failures } = await this.#scheduler!.commit({
      description: mode,
      mode,
      values: new Map(values),
      onFailure: 'best-effort',
    });
    assert.deepEqual(
      failures.map(({ key, error }) => `${key}: ${error.message}`),
      [],
    );
    const executed = this.#scheduler!.record(seqNum)?.Executed ?? [];
    return executed
      .filter((each) => each.NOOP !== true)
      .map(({ Operation: operation, Key: key }) => ({ operation, key }));
  }

  /** A new agent with these desired values retrieves them. */
  async assertReadsBack(values: readonly KeyedValue[]): Promise<void> {
    const found = await readBack(this.descriptors(), values);
    for (const { key, value } of values) assert.deepEqual(found.values.get(key)?.value, value, key);
  }

  /** Applies the states one after the other by updates, and compares each with VPP. */
  async applyInTurn(...states: readonly (readonly KeyedValue[])[]): Promise<void> {
    let last: readonly KeyedValue[] = [];
    for (const state of states) {
      const gone = last.filter(({ key }) => !state.some((each) => each.key === key));
      const removed = gone.map(({ key }) => [key, null] as const);
      await this.commit('update', [...removed, ...entries(state)]);
      await this.assertReadsBack(state);
      last = state;
    }
  }
}
