/**
 * Removes idle sessions of NAT44, at intervals. VPP itself removes an expired session only when a new one
 * is made, so that the table of a node which was busy once looks full, and the affinity of a client to a
 * backend, which lasts as long as its sessions, does not end.
 */
import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { NatSession, NatSessionPort } from '#plugins/controller/api/ports/nat-sessions.ts';
import type { NatSessionMetrics } from './metrics.ts';

const TCP = 6;

/**
 * VPP forwards no packets during a request, so each is followed by a pause of this many times its length. The length
 * includes delays of the agent itself: while the agent is busy the removal takes longer, as its metric shows.
 */
const PAUSE_FACTOR = 19;
const SHORTEST_PAUSE_MS = 1;

/** Sessions that are deleted between two pauses: VPP takes 25 µs for each (v26.06). */
const BATCH = 64;

export interface IdleSessionDeps {
  readonly port: NatSessionPort;
  readonly intervalMs: number;
  readonly metrics: NatSessionMetrics;
  readonly clock: Clock;
  readonly log: Logger;
}

export class IdleSessions implements Component {
  readonly name = 'idle NAT sessions';
  readonly #deps: IdleSessionDeps;
  readonly #stop = new AbortController();
  #timer: Timer | undefined;
  #run: Promise<void> = Promise.resolve();

  constructor(deps: IdleSessionDeps) {
    this.#deps = deps;
  }

  init(): void {
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#timer?.cancel();
    await this.#run;
  }

  #schedule(): void {
    if (this.#stop.signal.aborted) return;
    this.#timer = this.#deps.clock.timer(this.#deps.intervalMs, () => {
      this.#run = this.#removeAll();
    });
  }

  async #removeAll(): Promise<void> {
    const { clock } = this.#deps;
    const started = clock.monotonic();
    try {
      const users = await this.#paced(() => this.#deps.port.users());
      const found = { tcp: 0, other: 0 };
      for (const user of users) {
        const sessions = await this.#paced(() => this.#deps.port.sessionsOf(user));
        for (const { protocol } of sessions) found[protocol === TCP ? 'tcp' : 'other']++;
        await this.#removeIdle(sessions);
      }
      this.#deps.metrics.setFound(found, (clock.monotonic() - started) / 1_000);
    } catch (error) {
      if (!this.#stop.signal.aborted)
        this.#deps.log.warn({ err: error }, 'cannot remove idle NAT sessions');
    } finally {
      this.#schedule();
    }
  }

  async #removeIdle(sessions: readonly NatSession[]): Promise<void> {
    const idle = sessions.filter(({ isExpired }) => isExpired);
    for (let at = 0; at < idle.length; at += BATCH) {
      const batch = idle.slice(at, at + BATCH);
      await this.#paced(() => Promise.all(batch.map((session) => this.#remove(session))));
    }
  }

  async #remove(session: NatSession): Promise<void> {
    const { metrics, port, log } = this.#deps;
    try {
      const wasThere = await port.delete(session);
      if (wasThere) metrics.addDeleted(session.protocol === TCP);
    } catch (error) {
      metrics.addError();
      log.warn({ err: error, session }, 'cannot remove an idle NAT session');
    }
  }

  /** @throws the reason of the stop */
  async #paced<T>(request: () => Promise<T>): Promise<T> {
    const { clock } = this.#deps;
    this.#stop.signal.throwIfAborted();
    const started = clock.monotonic();
    const result = await request();
    const pause = Math.max(SHORTEST_PAUSE_MS, (clock.monotonic() - started) * PAUSE_FACTOR);
    await clock.sleep(pause, this.#stop.signal);
    return result;
  }
}
