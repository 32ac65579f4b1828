import type { Clock, Timer } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { type CodedError, defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { FlowSource } from '#linux/socket-flows/api.ts';
import type { FlowRing } from './flow-ring.ts';
import type { Recorder } from './recorder.ts';

const INTERVAL_MS = 60_000;
/** Until ends have names. */
const WAIT_MS = 500;

export const FlowsMeasureError = defineError({
  name: 'FlowsMeasureError',
  code: 'CV_FLOWS_MEASURE',
  isRetriable: true,
  unavailable: 'environment',
  remedy:
    'Connections are recorded as ever; the bytes of those that are open, and those that an earlier agent has seen open, are missing until their end. The agent tries again every minute. A network namespace with more than 20,000 open connections is not read (E2BIG).',
});

export interface FlowMeterDeps {
  readonly source: Pick<FlowSource, 'measure'>;
  readonly recorder: Pick<Recorder, 'record' | 'measure' | 'endUnreported'>;
  readonly ring: Pick<FlowRing, 'from' | 'notify'>;
  /** Whether ends have names. */
  readonly isReady: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Asks the kernel once a minute for the connections that continue: for their bytes, for those that an earlier agent has recorded, and
 * for those whose end was not reported because its event was lost.
 */
export class FlowMeter {
  readonly #deps: FlowMeterDeps;
  #timer: Timer | undefined;
  #isClosed = false;
  /** Open records of which the kernel had no connection the last time. */
  #missing: ReadonlySet<string> = new Set();
  #fault: CodedError | undefined;

  constructor(deps: FlowMeterDeps) {
    this.#deps = deps;
  }

  /** Why the last measurement is not complete. */
  get fault(): CodedError | undefined {
    return this.#fault;
  }

  start(): void {
    void this.#round();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  async #round(): Promise<void> {
    const { isReady, ring, clock, log } = this.#deps;
    let isWaiting = false;
    try {
      isWaiting = !isReady();
      if (!isWaiting) {
        await this.#measure();
        if (!this.#isClosed) ring.notify();
      }
      this.#fault = undefined;
    } catch (thrown) {
      const fault = new FlowsMeasureError(errorText(thrown), { cause: thrown });
      const { code, message, remedy } = fault;
      if (this.#fault?.message !== message)
        log.warn({ code, error: message, remedy }, 'connections that continue are not measured');
      this.#fault = fault;
    }
    if (this.#isClosed) return;
    this.#timer = clock.timer(isWaiting ? WAIT_MS : INTERVAL_MS, () => void this.#round());
  }

  async #measure(): Promise<void> {
    const { source, recorder, ring, clock } = this.#deps;
    const begun = clock.now();
    const known = new Set<string>();
    await source.measure((event) => {
      known.add(event.id);
      if (this.#isClosed) return;
      if (event.kind === 'ended') recorder.record(event);
      else recorder.measure(event);
    });
    const slices = new Slices(clock);
    const missing = new Set<string>();
    for (const [, { flow, changedAt }] of ring.from(0)) {
      if (this.#isClosed) return;
      if (slices.due()) await slices.turn();
      if (flow.seenBy !== undefined || flow.ended !== undefined) continue;
      if (changedAt >= begun || known.has(flow.id)) continue;
      // the event of the end may have been on its way the last time
      if (this.#missing.has(flow.id)) recorder.endUnreported(flow.id);
      else missing.add(flow.id);
    }
    this.#missing = missing;
  }
}
