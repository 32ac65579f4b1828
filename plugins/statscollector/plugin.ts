/**
 * Statistics of the interfaces of pods and of the node, for Prometheus. They are read from VPP when
 * Prometheus asks; inside the event loop only the removal of a pod matters.
 */
import { Registry } from 'prom-client';
import type { Clock } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Event } from '#plugins/controller/api/event.ts';
import type {
  EventHandler,
  UpdateContext,
  UpdateResult,
} from '#plugins/controller/api/event-handler.ts';
import type { StatsPort } from '#plugins/controller/api/ports/stats.ts';
import { DeletePod, type DeletePodPayload } from '#plugins/podmanager/api.ts';
import type { InterfaceSample, InterfaceSamples, StatsCollectorApi } from './api.ts';
import type { InterfaceEntry } from './interface-entry.ts';
import { interfaceOwner, type OwnersOfInterfaces } from './interface-owner.ts';
import type { RolesOfInterfaces } from './interface-role.ts';
import { SampleList } from './sample-list.ts';
import { StatsMetrics } from './stats-metrics.ts';

export interface StatsSource {
  readonly statistics: Pick<StatsPort, 'interfaces'>;
  /** Logical name of an interface by its index in VPP; undefined if it is not configured. */
  readonly nameOf: (swIfIndex: number) => string | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

export interface StatsCollectorDeps {
  readonly nodeName: string;
  readonly net: OwnersOfInterfaces & RolesOfInterfaces;
}

export function createStatsCollector(deps: StatsCollectorDeps): StatsCollector {
  return new StatsCollector(deps);
}

export class StatsCollector implements EventHandler, StatsCollectorApi {
  readonly name = 'statscollector';
  readonly net: OwnersOfInterfaces & RolesOfInterfaces;
  readonly #metrics: StatsMetrics;
  #samples = SampleList.failed('the counters were not read yet');
  #entries: readonly InterfaceEntry[] = [];
  #lastError = '';

  constructor({ nodeName, net }: StatsCollectorDeps) {
    this.net = net;
    this.#metrics = new StatsMetrics(new Registry(), nodeName, () => this.#entries);
  }

  /** The metrics on `/stats`. */
  get registry(): Registry {
    return this.#metrics.registry;
  }

  entries(): readonly InterfaceEntry[] {
    return this.#entries;
  }

  /** Of the last collection. */
  samples(): InterfaceSamples {
    return this.#samples;
  }

  registerGaugeFunc(name: string, help: string, valueFunc: () => number): void {
    this.#metrics.registerGaugeFunc(name, help, valueFunc);
  }

  /** Reads the figures of all interfaces. Never rejects: without VPP there are none. */
  async collect({ statistics, nameOf, clock, log }: StatsSource): Promise<void> {
    try {
      const found = await statistics.interfaces();
      const samples = found.flatMap((counters): InterfaceSample[] => {
        const interfaceName = nameOf(counters.swIfIndex);
        return interfaceName === undefined ? [] : [{ interfaceName, counters }];
      });
      this.#samples = SampleList.found(clock.now(), samples);
      this.#entries = samples.flatMap((sample): InterfaceEntry[] => {
        const owner = interfaceOwner(sample.interfaceName, this.net);
        return owner ? [{ owner, ...sample }] : [];
      });
      this.#lastError = '';
    } catch (error) {
      // Log a repeated error once, not at each scrape.
      const text = errorText(error);
      this.#samples = SampleList.failed(text);
      this.#entries = [];
      if (text !== this.#lastError)
        log.warn({ err: error }, 'cannot read the statistics of interfaces');
      this.#lastError = text;
    }
  }

  handlesEvent(event: Event): boolean {
    return DeletePod.is(event);
  }

  resync(): void {}

  update({ event }: UpdateContext): UpdateResult | undefined {
    const { pod } = event.payload as DeletePodPayload;
    const removed = new Set(
      this.#entries
        .filter(({ owner }) => owner.podName === pod.name && owner.podNamespace === pod.namespace)
        .map(({ interfaceName }) => interfaceName),
    );
    if (removed.size === 0) return undefined;
    this.#entries = this.#entries.filter(({ interfaceName }) => !removed.has(interfaceName));
    this.#samples = this.#samples.without(removed);
    return { change: 'removed interface stats' };
  }
}
