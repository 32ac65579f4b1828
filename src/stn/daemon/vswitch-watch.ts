/**
 * Decides when the vswitch has to give the NICs back: its link to the host, `vpp1`, must be up within
 * half a minute after a steal, and return within ten seconds when it is lost.
 */
import type { Clock } from '#infra/clock/clock.ts';
import type { HostLink } from './host-network.ts';

/** The link between the host and VPP. */
export const VSWITCH_LINK = 'vpp1';

/** Of the original: VPP starts, and the agent configures it. */
const START_MS = 30_000;
/** The agent may make the link again. */
const LOSS_MS = 10_000;

/** Numbers of RFC 2863. */
const down: readonly number[] = [1, 2, 7];

export class VswitchWatch {
  readonly #links: () => readonly HostLink[];
  readonly #clock: Pick<Clock, 'monotonic'>;
  #deadline: number;

  constructor(links: () => readonly HostLink[], clock: Pick<Clock, 'monotonic'>) {
    this.#links = links;
    this.#clock = clock;
    this.#deadline = clock.monotonic() + START_MS;
  }

  /** VPP is started. */
  arm(): void {
    this.#deadline = this.#clock.monotonic() + START_MS;
  }

  /** Whether the link is up now. */
  get isUp(): boolean {
    const link = this.#links().find(({ name }) => name === VSWITCH_LINK);
    return link?.up === true && !down.includes(link.operState);
  }

  /** Whether the link has been missing or down for too long. */
  get isLost(): boolean {
    const now = this.#clock.monotonic();
    if (!this.isUp) return now >= this.#deadline;
    this.#deadline = Math.max(this.#deadline, now + LOSS_MS);
    return false;
  }
}
