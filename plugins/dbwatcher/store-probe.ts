import type { KvStore } from '#datastore/api.ts';
import type { Clock, Timer } from '#infra/clock/clock.ts';

export interface StoreProbeHandlers {
  /** The store became available. */
  onUp(): void;
  /** The store is unavailable; called after every failed probe. */
  onDown(reason: unknown): void;
}

/** Probes periodically whether the store is available. */
export class StoreProbe {
  readonly #store: KvStore;
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #handlers: StoreProbeHandlers;
  #timer: Timer | undefined;
  #up = false;
  #closed = false;

  constructor(store: KvStore, clock: Clock, intervalMs: number, handlers: StoreProbeHandlers) {
    this.#store = store;
    this.#clock = clock;
    this.#intervalMs = intervalMs;
    this.#handlers = handlers;
  }

  start(): void {
    void this.#probe();
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  async #probe(): Promise<void> {
    const failure = await this.#store.probe().then(
      () => undefined,
      (reason: unknown) => ({ reason }),
    );
    if (this.#closed) return;
    const wasUp = this.#up;
    this.#up = failure === undefined;
    if (failure) this.#handlers.onDown(failure.reason);
    else if (!wasUp) this.#handlers.onUp();
    this.#timer = this.#clock.timer(this.#intervalMs, () => void this.#probe());
  }
}
