import type { Clock, Timer } from '#infra/clock/clock.ts';
import { type CodedError, defineError, errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { DenialsPort } from '#plugins/controller/api/ports/denials.ts';
import { Allowance } from './allowance.ts';
import type { DeniedFlows } from './denied-flows.ts';

/** The second packet of a client comes a second after its first, and has to be shown a second later. */
const INTERVAL_MS = 400;
/** After a failure. */
const RETRY_MS = 10_000;
/** A client that sends again does so within this time; then VPP stops to keep packets. */
const SILENCE_MS = 15_000;
/** The same while another place waits, of which none is kept meanwhile: a client of TCP sends again after a second. */
const TURN_MS = 1_500;
/**
 * Each sample stops the workers of VPP for a moment, and VPP does not give back about 115 bytes of its memory: half a megabyte a day,
 * if something is denied all the time.
 */
const SAMPLES_AT_ONCE = 100;
const MS_PER_SAMPLE = 20_000;

export const FlowsDenialsError = defineError({
  name: 'FlowsDenialsError',
  code: 'CV_FLOWS_DENIALS',
  isRetriable: true,
  unavailable: 'environment',
  remedy:
    'Connections of sockets are recorded as ever; packets that VPP denies to others are not. The agent tries again every 10 s. It reads the statistics of VPP, and its file in /proc/PID/root/tmp: its pod needs hostPID and privileges, as the manifest has them.',
});

export interface DenialSamplerDeps {
  readonly denials: DenialsPort;
  readonly flows: Pick<DeniedFlows, 'add' | 'settle'>;
  /** Whether ends have names. */
  readonly isReady: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Sampling {
  readonly place: string;
  /** Whether the sample before was of it, too: its clients have been seen, those of others have not. */
  readonly isAgain: boolean;
  /** When packets were denied there last. */
  movedAt: number;
}

/**
 * Looks at some of the packets that VPP denies. Its counters say that there are some; then the next ones of that place are kept,
 * until there are none for a while.
 */
export class DenialSampler {
  readonly #deps: DenialSamplerDeps;
  readonly #allowance: Allowance;
  #counts: ReadonlyMap<string, number> | undefined;
  #sampling: Sampling | undefined;
  /** Other places, and when packets were denied there last; the one that waits longest is the first. */
  readonly #waiting = new Map<string, number>();
  #denied = 0;
  #sampled = 0;
  #fault: CodedError | undefined;
  #running: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(deps: DenialSamplerDeps) {
    this.#deps = deps;
    this.#allowance = new Allowance(deps.clock, { most: SAMPLES_AT_ONCE, msEach: MS_PER_SAMPLE });
  }

  /** Packets that VPP has denied since the agent has started. */
  get denied(): number {
    return this.#denied;
  }

  /** Those of them that were looked at. */
  get sampled(): number {
    return this.#sampled;
  }

  get fault(): CodedError | undefined {
    return this.#fault;
  }

  start(): void {
    this.#running = this.#round();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#running;
    // VPP would keep packets that no agent reads
    if (this.#sampling) await this.#deps.denials.end().catch(() => undefined);
  }

  async #round(): Promise<void> {
    const { clock, log } = this.#deps;
    try {
      await this.#look();
      if (this.#fault) log.info('packets that VPP denies are looked at again');
      this.#fault = undefined;
    } catch (thrown) {
      const fault = new FlowsDenialsError(errorText(thrown), { cause: thrown });
      const { code, message, remedy } = fault;
      if (!this.#fault)
        log.warn({ code, error: message, remedy }, 'packets that VPP denies are not looked at');
      this.#fault = fault;
    }
    if (this.#isClosed) return;
    this.#timer = clock.timer(this.#fault ? RETRY_MS : INTERVAL_MS, () => {
      this.#running = this.#round();
    });
  }

  async #look(): Promise<void> {
    const { denials, flows, isReady, clock } = this.#deps;
    flows.settle();
    const counts = await denials.counts();
    if (!this.#counts) {
      // VPP may keep some for an agent that was killed
      await denials.end();
      this.#counts = counts;
      return;
    }
    const moved = movedPlaces(this.#counts, counts);
    this.#counts = counts;
    for (const [, packets] of moved) this.#denied += packets;
    const now = clock.monotonic();
    const current = this.#sampling;
    for (const place of moved.keys()) if (place !== current?.place) this.#waiting.set(place, now);
    for (const [place, movedAt] of this.#waiting)
      if (now - movedAt >= SILENCE_MS) this.#waiting.delete(place);
    if (current && moved.has(current.place)) {
      current.movedAt = now;
      if (this.#allowance.isEmpty) return;
      await this.#end();
    } else if (current && now - current.movedAt >= this.#waitsFor(current)) await this.#end();
    if (this.#sampling || this.#isClosed || !isReady()) return;
    const [waiting] = this.#waiting.keys();
    const again = current && moved.has(current.place) ? current.place : undefined;
    await this.#begin(waiting ?? again, waiting === undefined);
  }

  /** How long the next packet of the place is waited for. */
  #waitsFor({ isAgain }: Sampling): number {
    if (this.#waiting.size === 0) return SILENCE_MS;
    return isAgain ? 0 : TURN_MS;
  }

  async #begin(place: string | undefined, isAgain: boolean): Promise<void> {
    const { denials, clock } = this.#deps;
    if (place === undefined || !this.#allowance.take()) return;
    this.#waiting.delete(place);
    if (await denials.begin(place)) this.#sampling = { place, isAgain, movedAt: clock.monotonic() };
  }

  async #end(): Promise<void> {
    this.#sampling = undefined;
    const { count, packets } = await this.#deps.denials.end();
    this.#sampled += count;
    this.#deps.flows.add(packets);
  }
}

/** Places with more than before, and how many. */
function movedPlaces(
  before: ReadonlyMap<string, number>,
  now: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const moved = new Map<string, number>();
  for (const [place, count] of now) {
    const last = before.get(place) ?? 0;
    // of a VPP that was started again
    const more = count < last ? count : count - last;
    if (more > 0) moved.set(place, more);
  }
  return moved;
}
