/**
 * The event loop with all handlers, and the scheduler with all VPP descriptors, on a real VPP without
 * interfaces: of the values of the handlers, only those that services need are committed.
 */
import { filterInSlices, Slices } from '#infra/clock/slices.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { parseConfig } from '#infra/config/load.ts';
import { silentLogger } from '#infra/log/log.ts';
import type { TransactionRequest, TransactionTrace } from '#kvscheduler/api/transaction.ts';
import type { Observer } from '#kvscheduler/history/observer.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';
import { dnat44Key } from '#models/vpp/dnat44.ts';
import { nat44AddressPoolModel } from '#models/vpp/nat44-address-pool.ts';
import { NAT44_GLOBAL_KEY } from '#models/vpp/nat44-global.ts';
import { vrfTableModel } from '#models/vpp/vrf-table.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import { controllerSchema } from '#plugins/controller/config.ts';
import { Controller } from '#plugins/controller/controller.ts';
import type { EventRecord } from '#plugins/controller/event-record.ts';
import { fakeVppWithNics } from '#test/plugins/ipv4net/vpp-with.ts';
import { TestNode } from '#test/plugins/test-node.ts';
import type { VppClient } from '#vpp/binapi/api.ts';
import type { BinapiClient } from '#vpp/binapi/client/client.ts';
import { vppDescriptors } from '#vpp/descriptors/vpp-descriptors.ts';
import type { RawRequest } from './raw-client.ts';
import { clientOf } from './vpp-node.ts';

const [clock, log] = [systemClock, silentLogger];

const needed = [
  vrfTableModel.keyPrefix,
  NAT44_GLOBAL_KEY,
  nat44AddressPoolModel.keyPrefix,
  dnat44Key.prefix(),
];

/** Addresses for the pods of many nodes, apart from those of services. */
const YAML = `
mtuSize: 1400
ipamConfig:
  nodeInterconnectCIDR: 192.168.16.0/24
  podSubnetCIDR: 100.64.0.0/10
  podSubnetOneNodePrefixLen: 24
`;

/** Times of one event in milliseconds, since it was pushed. */
export interface EventTimes {
  readonly handlers: number;
  readonly planned: number;
  readonly configured: number;
  readonly trace: TransactionTrace;
}

export class ServiceNode implements AsyncDisposable {
  readonly #client: BinapiClient;
  readonly #scheduler: Scheduler;
  readonly #controller: Controller;
  #processed = Promise.withResolvers<EventRecord>();
  #handlersAt = 0;
  #plannedAt = 0;
  #trace: TransactionTrace | undefined;
  /** Receives each request to VPP. */
  onRequest: (request: RawRequest) => void = () => undefined;

  static async connect(apiSocket: string): Promise<ServiceNode> {
    return new ServiceNode(await clientOf(apiSocket));
  }

  private constructor(client: BinapiClient) {
    this.#client = client;
    this.#scheduler = createScheduler({
      descriptors: vppDescriptors({ client: this.#observedClient(), clock, log }),
      clock,
      log,
      observer: this.#observer(),
    });
    const { handlers, desired } = new TestNode({
      name: 'node1',
      vpp: fakeVppWithNics('Gig1'),
      yaml: YAML,
    });
    this.#controller = new Controller({
      config: parseConfig(controllerSchema, '', 'bench').value,
      handlers,
      desired,
      sink: {
        commit: (request) => this.#commit(request),
        record: (seqNum) => this.#scheduler.record(seqNum),
      },
      merge: (_key, _base, over) => over,
      southboundGeneration: () => 1,
      clock,
      random: systemRandom,
      log,
      handlerLog: () => log,
      reportState: () => undefined,
      print: () => undefined,
      onProcessed: ({ record, error }) => {
        if (error) this.#processed.reject(error);
        else this.#processed.resolve(record);
      },
    });
    this.#controller.start();
  }

  /** Resolves when the event is processed. @throws its error */
  async process(event: Event): Promise<EventTimes> {
    this.#processed = Promise.withResolvers();
    this.#trace = undefined;
    const start = performance.now();
    this.#controller.push(event);
    await this.#processed.promise;
    const configured = performance.now() - start;
    if (this.#trace === undefined) throw new Error('the event had no transaction');
    return {
      handlers: this.#handlersAt - start,
      planned: this.#plannedAt - start,
      configured,
      trace: this.#trace,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#controller.close({ cleanup: false });
    await this.#scheduler.close();
    await this.#client.close();
  }

  async #commit(request: TransactionRequest) {
    this.#handlersAt = performance.now();
    const values = new Map(
      await filterInSlices(
        [...request.values],
        ([key]) => needed.some((prefix) => key.startsWith(prefix)),
        new Slices(clock),
      ),
    );
    const result = await this.#scheduler.commit({ ...request, values });
    this.#trace = result.trace;
    return result;
  }

  #observer(): Observer {
    const ignore = (): void => undefined;
    return {
      dropped: ignore,
      waited: ignore,
      took: ignore,
      worked: (method) => {
        if (method === 'Plan') this.#plannedAt = performance.now();
      },
      processed: ignore,
      committed: ignore,
      called: ignore,
    };
  }

  #observedClient(): VppClient {
    const client = this.#client;
    const send: VppClient['request'] = client.request.bind(client);
    const request: VppClient['request'] = (name, fields) => {
      this.onRequest({ name, fields });
      return send(name, fields);
    };
    return Object.assign(client, { request });
  }
}
