/** The scheduler with all VPP descriptors on a real VPP, and a recording of its requests. */

import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { AnyDescriptor } from '#kvscheduler/api/descriptor.ts';
import type { Value } from '#kvscheduler/api/transaction.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { linuxHostNameKey } from '#models/linux/derived.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import type { BinapiClient } from '#vpp/binapi/client/client.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';
import type { RawRequest } from './raw-client.ts';
import { clientOf, commit } from './vpp-node.ts';

const hostLink: AnyDescriptor = {
  name: 'host-link',
  keyPrefixes: [linuxHostNameKey.prefix()],
  typeName: '',
};

export class VppScheduler {
  readonly #client: BinapiClient;
  readonly #scheduler: Scheduler;
  /** Requests of the commit that is being recorded. */
  #requests: RawRequest[] | undefined;

  static async connect(apiSocket: string): Promise<VppScheduler> {
    return new VppScheduler(await clientOf(apiSocket));
  }

  private constructor(client: BinapiClient) {
    this.#client = client;
    const [clock, log] = [systemClock, silentLogger];
    const ofVpp = vppDescriptors({ client: this.#recorded(), clock, log });
    this.#scheduler = createScheduler({ descriptors: [...ofVpp, hostLink], clock, log });
  }

  /** Notifies of host links, as the Linux descriptors of an agent do. */
  notifyOfLinks(hosts: readonly string[]): void {
    const links = hosts.map((host) => ({ key: linuxHostNameKey.build({ host }), value: {} }));
    this.#scheduler.pushNotification(links);
  }

  /** @returns milliseconds */
  async commit(values: ReadonlyMap<string, Value | null>): Promise<number> {
    const { ms } = await commit(this.#scheduler, 'update', values);
    for (const [key, value] of values) {
      const { state } = this.#scheduler.status(key).value;
      if (state !== (value === null ? 'NONEXISTENT' : 'CONFIGURED'))
        throw new Error(`${key} is ${state}`);
    }
    return ms;
  }

  /** The requests of a commit. */
  async requestsOf(values: ReadonlyMap<string, Value | null>): Promise<readonly RawRequest[]> {
    const requests: RawRequest[] = [];
    this.#requests = requests;
    await this.commit(values);
    this.#requests = undefined;
    return requests;
  }

  async close(): Promise<void> {
    await this.#scheduler.close();
    await this.#client.close();
  }

  #recorded(): VppClient {
    const client = this.#client;
    const recorded = Object.create(client) as VppClient;
    const request: VppClient['request'] = (name, fields) => {
      this.#requests?.push({ name, fields });
      return client.request(name, fields);
    };
    return Object.assign(recorded, {
      request,
      dump: client.dump.bind(client),
      has: client.has.bind(client),
      onEvent: client.onEvent.bind(client),
      onStateChange: client.onStateChange.bind(client),
    });
  }
}
