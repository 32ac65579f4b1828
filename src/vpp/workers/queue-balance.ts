/**
 * Spreads the receive queues of pods over VPP's workers. VPP gives each new queue to the next worker in turn, whatever the
 * others have to do, and leaves it there: after pods were deleted, or while a few of them send most of the packets, one
 * worker may drop packets beside one without work. VPP keeps a placement without the agent, and the next agent begins with it.
 */
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import { type RepeatedWorkDeps, repeatedWork } from '#infra/process/repeated-work.ts';
import type { StatsPort } from '#plugins/controller/api/ports/stats.ts';
import type { VppClient } from '../binapi/api.ts';
import { NONE } from '../descriptors/limits.ts';
import { type LoadedQueue, queueMoves } from './queue-moves.ts';

const PERIOD_MS = 10_000;
/** Packets in a period as which an idle queue counts. */
const IDLE_LOAD = 1000;

export interface QueueBalanceDeps extends RepeatedWorkDeps {
  readonly client: VppClient;
  readonly statistics: Pick<StatsPort, 'interfaces' | 'system'>;
  /** Whether an interface is the link of a pod, by its tag in VPP. */
  readonly isPodLink: (tag: string) => boolean;
  readonly log: Logger;
}

interface Counted {
  readonly name: string;
  readonly packets: number;
}

export function queueBalance(deps: QueueBalanceDeps): Component {
  const balance = new QueueBalance(deps);
  return repeatedWork(
    {
      name: 'worker queues',
      intervalMs: PERIOD_MS,
      work: () => balance.work(),
      onFailure: (error) => balance.report(error),
    },
    deps,
  );
}

class QueueBalance {
  readonly #deps: QueueBalanceDeps;
  #lastError = '';
  /** Packets that VPP had received from each interface, by its index. */
  #counted: ReadonlyMap<number, Counted> = new Map();

  constructor(deps: QueueBalanceDeps) {
    this.#deps = deps;
  }

  async work(): Promise<void> {
    const { client, statistics } = this.#deps;
    if (client.state !== 'connected') return;
    const { workers } = await statistics.system();
    if (workers < 2) return;
    const moves = queueMoves(await this.#queues(), workers);
    for (const { swIfIndex, queue, to } of moves)
      await client.request('sw_interface_set_rx_placement', {
        sw_if_index: swIfIndex,
        queue_id: queue,
        worker_id: to,
        is_main: false,
      });
    if (moves.length > 0)
      this.#deps.log.info({ queues: moves.length }, 'moved receive queues to other workers of VPP');
    this.#lastError = '';
  }

  /** An interface may have been deleted meanwhile. */
  report(error: unknown): void {
    const text = errorText(error);
    if (text !== this.#lastError)
      this.#deps.log.warn({ err: error }, 'cannot spread receive queues over the workers of VPP');
    this.#lastError = text;
  }

  async #queues(): Promise<readonly LoadedQueue[]> {
    const { client, isPodLink } = this.#deps;
    const [placements, interfaces] = await Promise.all([
      client.dump('sw_interface_rx_placement_dump', { sw_if_index: NONE }),
      client.dump('sw_interface_dump', {
        sw_if_index: NONE,
        name_filter_valid: false,
        name_filter: '',
      }),
    ]);
    const received = await this.#received();
    const links = new Set(
      interfaces.filter(({ tag }) => isPodLink(tag)).map(({ sw_if_index }) => sw_if_index),
    );
    const queuesOf = Map.groupBy(placements, ({ sw_if_index }) => sw_if_index);
    // thread 0 is the main one: what was placed there stays
    const onWorkers = placements.filter(({ worker_id }) => worker_id > 0);
    return onWorkers.map(({ sw_if_index, queue_id, worker_id }) => ({
      swIfIndex: sw_if_index,
      queue: queue_id,
      worker: worker_id - 1,
      load: IDLE_LOAD + (received.get(sw_if_index) ?? 0) / queuesOf.get(sw_if_index)!.length,
      isMovable: links.has(sw_if_index),
    }));
  }

  /** Packets since the last call, by interface. */
  async #received(): Promise<ReadonlyMap<number, number>> {
    const before = this.#counted;
    const now = await this.#deps.statistics.interfaces();
    this.#counted = new Map(
      now.map(({ swIfIndex, internalName, rxPackets }) => [
        swIfIndex,
        { name: internalName, packets: Number(rxPackets) },
      ]),
    );
    return new Map(
      [...this.#counted].map(([index, { name, packets }]) => {
        const known = before.get(index);
        // the index may be that of another interface now, in another VPP, too
        const isSame = known?.name === name && known.packets <= packets;
        return [index, isSame ? packets - known.packets : 0];
      }),
    );
  }
}
