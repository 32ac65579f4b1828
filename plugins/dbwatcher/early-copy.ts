/**
 * The copy of the database that a node needs before VPP takes over the NIC through which it reaches the
 * database: from then on the agent can configure VPP only from its mirror, and with an ID that it has. While
 * VPP is not connected the agent does nothing else; the mirror itself follows later.
 */
import type { KvEntry, KvStore } from '#datastore/api.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { KubeState } from '#plugins/controller/api/event-handler.ts';
import type { KubeSnapshot } from '#plugins/controller/api/events.ts';
import { KeySpace } from './key-space.ts';
import type { LastKnownState } from './last-known-state.ts';
import { Mirror } from './mirror.ts';
import { ResyncReader } from './resync-reader.ts';
import { RetainedRecords } from './retained-records.ts';
import type { ResyncContent } from './snapshot.ts';

const POLL_MS = 2_000;

export interface EarlyCopyDeps {
  readonly cluster: KvStore;
  readonly mirror: KvStore;
  readonly nodeName: string;
  readonly agentPrefix: string;
  /** Its value decides whether the copy is needed, so another value is another decision. */
  readonly nodeConfigKey: string;
  /** Whether VPP will take over a NIC of the host. */
  readonly isNeeded: (content: ResyncContent) => boolean;
  /** Allocates the ID of this node. @returns its record */
  readonly reserveId: (state: KubeState) => Promise<KvEntry | undefined>;
  readonly clock: Clock;
  readonly log: Logger;
}

export class EarlyCopy {
  readonly #deps: EarlyCopyDeps;
  readonly #reader: ResyncReader;
  /** Decided for this NodeConfig; null: the node has none. */
  #decidedFor: string | null | undefined;
  #writing: Promise<void> = Promise.resolve();
  #error: string | undefined;

  constructor(deps: EarlyCopyDeps) {
    const { cluster, mirror: store, clock, log, nodeName, agentPrefix } = deps;
    this.#deps = deps;
    this.#reader = new ResyncReader({
      cluster,
      mirror: new Mirror({ store, loop: { isIdle: true }, clock, log }),
      keySpace: new KeySpace(agentPrefix),
      retained: new RetainedRecords(nodeName),
      clock,
      log,
    });
  }

  /** Copies until VPP is connected. Then it leaves the mirror alone, whatever it is waiting for. */
  async untilConnected(connected: Promise<void>): Promise<void> {
    const stop = new AbortController();
    void this.#run(stop.signal);
    try {
      await connected;
    } finally {
      stop.abort();
      await this.#writing;
    }
  }

  async #run(stop: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    while (!stop.aborted) {
      try {
        await this.#copyOnce(stop);
        this.#error = undefined;
      } catch (thrown) {
        const error = errorText(thrown);
        if (!stop.aborted && error !== this.#error)
          log.warn({ error }, 'cannot copy the database before VPP starts; trying again');
        this.#error = error;
      }
      await clock.sleep(POLL_MS, stop).catch(() => undefined);
    }
  }

  async #copyOnce(stop: AbortSignal): Promise<void> {
    const { cluster, nodeConfigKey, isNeeded, reserveId } = this.#deps;
    const nodeConfig = (await cluster.get(nodeConfigKey)) ?? null;
    if (nodeConfig === this.#decidedFor || stop.aborted) return;
    const { decoded } = await this.#reader.read(undefined, false);
    if (stop.aborted) return;
    if (isNeeded(decoded.content)) {
      const record = await reserveId(kubeStateOf(decoded.content.kubeState));
      if (stop.aborted) return;
      if (record) decoded.add(record);
      this.#writing = this.#write(decoded.known);
      await this.#writing;
    }
    this.#decidedFor = nodeConfig;
  }

  async #write(known: LastKnownState): Promise<void> {
    const { mirror: store, clock, log } = this.#deps;
    const mirror = new Mirror({ store, loop: { isIdle: true }, clock, log });
    mirror.follow(known);
    await mirror.close();
    if (mirror.error === undefined) log.info('copied the database, which VPP may cut off');
    else throw new Error(mirror.error);
  }
}

function kubeStateOf(snapshot: KubeSnapshot): KubeState {
  const resources = Object.entries(snapshot);
  return new Map(resources.map(([keyword, values]) => [keyword, new Map(Object.entries(values))]));
}
