import type { Flow } from '#documents/flows.ts';
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { FindReason } from './flow-reason.ts';
import type { Recorder } from './recorder.ts';

export interface ReasonFinderDeps {
  readonly find: FindReason;
  readonly recorder: Pick<Recorder, 'explain'>;
  readonly clock: Clock;
  readonly log: Logger;
}

const unopened: ReadonlySet<Flow['verdict']> = new Set(['no-answer', 'refused']);

/** The end of a client is looked at, and what VPP has denied. */
function wantsReason({ side, verdict, seenBy }: Flow): boolean {
  return seenBy === 'vpp' || (side === 'client' && unopened.has(verdict));
}

/** More that wait get no reason: a scan of ports must not keep the agent busy. */
const MAX_WAITING = 500;

/** Finds out why connections of clients of this node are refused or get no answer, and which policy VPP has denied packets for, one after the other. */
export class ReasonFinder {
  readonly #deps: ReasonFinderDeps;
  readonly #waiting: Flow[] = [];
  #isRunning = false;

  constructor(deps: ReasonFinderDeps) {
    this.#deps = deps;
  }

  /** @param before what the record was; undefined: it is new */
  observe(flow: Flow, before: Flow | undefined): void {
    if (
      !wantsReason(flow) ||
      before?.verdict === flow.verdict ||
      this.#waiting.length >= MAX_WAITING
    )
      return;
    this.#waiting.push(flow);
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    const { find, recorder, clock, log } = this.#deps;
    const slices = new Slices(clock);
    this.#isRunning = true;
    for (let flow = this.#waiting.shift(); flow; flow = this.#waiting.shift()) {
      // an address that is none of a pod is compared with those of all pods of the cluster
      if (slices.dueNow()) await slices.turn();
      try {
        const found = await find(flow);
        if (found) recorder.explain(flow.id, found);
      } catch (thrown) {
        log.debug({ flow: flow.id, error: errorText(thrown) }, 'no reason was found');
      }
    }
    this.#isRunning = false;
  }
}
