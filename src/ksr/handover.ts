/**
 * When a leader must let another instance lead: the API server has not answered it for a minute, so it has nothing to
 * write, and another instance waits, which may reach the API server. A candidate waits only while it reaches it: see
 * `whenAnswered`.
 */
import type { Leadership } from '#datastore/election.ts';
import type { Clock } from '#infra/clock/clock.ts';

/** A kube-apiserver that is restarted or updated answers again before. */
const LIMIT_MS = 60_000;
const INTERVAL_MS = 2_000;

export interface HandoverDeps {
  /** Whether the API server answers no request of this instance. */
  readonly isCutOff: () => boolean;
  readonly clock: Clock;
}

export class Handover {
  readonly #due = new AbortController();
  readonly #closing = new AbortController();

  constructor(deps: HandoverDeps, leadership: Leadership) {
    void this.#observe(deps, leadership).catch(() => undefined);
  }

  /** Aborted when this instance must not lead any more. */
  get due(): AbortSignal {
    return this.#due.signal;
  }

  close(): void {
    this.#closing.abort();
  }

  /** @throws when it is closed */
  async #observe({ isCutOff, clock }: HandoverDeps, leadership: Leadership): Promise<void> {
    let answered = clock.monotonic();
    while (!this.#due.signal.aborted) {
      await clock.sleep(INTERVAL_MS, this.#closing.signal);
      const now = clock.monotonic();
      if (!isCutOff()) answered = now;
      // an unavailable database decides nothing
      else if (now - answered >= LIMIT_MS && (await leadership.hasSuccessor().catch(() => false)))
        this.#due.abort();
    }
  }
}

/** Resolves when the API server answers, or at the end. */
export async function whenAnswered(
  { isCutOff, clock }: HandoverDeps,
  end: AbortSignal,
): Promise<void> {
  while (isCutOff() && !end.aborted) await clock.sleep(INTERVAL_MS, end).catch(() => undefined);
}
