/** The NIC that VPP takes over from the host (STN), by requests to the STN daemon. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Backoff } from '#infra/clock/backoff.ts';
import type { Clock, Random } from '#infra/clock/clock.ts';
import { ConfigError } from '#infra/config/load.ts';
import { traitsOf } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import { firstHostNic } from '#plugins/contivconf/api.ts';
import type { StolenInterface } from '#plugins/controller/api/ports/stn.ts';
import type { StnDaemon } from '#stn/daemon-client.ts';
import { StnGivenBackError } from '#stn/errors.ts';

/** Of a daemon that does not answer. */
const silenceDelays = { firstMs: 1_000, maxMs: 15_000 };
/** Of a refusal, which may end: the driver waits for the VPP of a contiv-init that was killed. */
const REFUSALS = 3;
const REFUSAL_PAUSE_MS = 2_000;

/** How often the daemon is asked whether VPP still has the NIC. */
const WATCH_MS = 5_000;

export interface NicRequest {
  /** Name in the host; empty: its first one. */
  readonly name: string;
  /** The host gets the addresses of the NIC by DHCP when it has it again. */
  readonly useDhcp: boolean;
}

export interface StolenNicDeps {
  readonly daemon: () => Promise<StnDaemon>;
  readonly daemonSocket: string;
  /** Links of the host in their order. */
  readonly hostLinks: () => readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class StolenNic {
  readonly #deps: StolenNicDeps;
  readonly #firstNicFile: string;
  /** The last request, whether or not its answer has arrived. */
  #taken: NicRequest | undefined;

  constructor(deps: StolenNicDeps) {
    this.#deps = deps;
    this.#firstNicFile = join(dirname(deps.daemonSocket), 'first-nic');
  }

  /**
   * Waits for a daemon that does not answer: without its NIC a node of one NIC would have a VPP that
   * reaches nothing.
   * @returns undefined: the daemon refuses; the agent reports that, and configures the node without STN
   * @throws the reason of `stop`
   */
  async take(
    { name: requested, useDhcp }: NicRequest,
    stop: AbortSignal,
    onWait: () => Promise<void>,
  ): Promise<StolenInterface | undefined> {
    const { daemon, clock, random, log } = this.#deps;
    const backoff = new Backoff(silenceDelays, random);
    let refusals = 0;
    for (;;) {
      let delayMs: number;
      try {
        const name = requested || (await this.#firstNic());
        // After the stop no caller waits for it, and the NIC would not be given back.
        stop.throwIfAborted();
        this.#taken = { name, useDhcp };
        const stolen = await (await daemon()).steal(name, useDhcp);
        log.info({ nic: name, pciAddress: stolen.pciAddress }, 'VPP takes over the NIC');
        return stolen;
      } catch (error) {
        stop.throwIfAborted();
        const isRefused = isRefusal(error);
        if (isRefused && ++refusals === REFUSALS) {
          log.error({ err: error }, 'starting VPP without the NIC: it stays with the host');
          this.#taken = undefined;
          return undefined;
        }
        delayMs = isRefused ? REFUSAL_PAUSE_MS : backoff.next();
        log.error({ err: error, delayMs: Math.round(delayMs) }, 'VPP waits for its NIC');
      }
      await onWait();
      await clock.sleep(delayMs, stop);
    }
  }

  /**
   * Resolves with the answer of the daemon when it gives the NIC back, or the host has it: VPP still uses the
   * device, so that its driver cannot be bound. A daemon that has only forgotten the NIC leaves it with VPP.
   * @throws the reason of `stop`
   */
  async whenLost(stop: AbortSignal): Promise<Error> {
    const { daemon, hostLinks, clock } = this.#deps;
    for (;;) {
      await clock.sleep(WATCH_MS, stop);
      if (!this.#taken) continue;
      const { name } = this.#taken;
      try {
        await (await daemon()).stolenInterface(name);
      } catch (thrown) {
        if (thrown instanceof StnGivenBackError) return thrown;
        if (isRefusal(thrown) && hostLinks().includes(name)) return thrown as Error;
      }
    }
  }

  /** The daemon gives the NIC back by itself when it does not get this request. Does not throw. */
  async giveBack(): Promise<void> {
    const { daemon, log } = this.#deps;
    if (!this.#taken) return;
    const { name, useDhcp } = this.#taken;
    try {
      await (await daemon()).release(name, useDhcp);
      log.info({ nic: name }, 'the host has the NIC again');
    } catch (error) {
      log.error({ nic: name, err: error }, 'the NIC was not given back');
    }
  }

  /**
   * The first NIC of the host. Once it is taken, the host has another first NIC, also when it has this one back:
   * its driver then makes the last link. So its name is written to a file, and the same NIC is taken again.
   */
  async #firstNic(): Promise<string> {
    const { hostLinks } = this.#deps;
    const earlier = this.#earlierNic();
    if (earlier !== undefined && (hostLinks().includes(earlier) || (await this.#isStolen(earlier))))
      return earlier;
    const first = firstHostNic(hostLinks());
    if (first === undefined)
      throw new ConfigError('the host has no NIC', { where: 'stealFirstNIC' });
    writeFileSync(this.#firstNicFile, first);
    return first;
  }

  /** Also while the daemon gives the NIC back. @throws StnDaemonError */
  async #isStolen(name: string): Promise<boolean> {
    try {
      await (await this.#deps.daemon()).stolenInterface(name);
      return true;
    } catch (error) {
      if (error instanceof StnGivenBackError) return true;
      if (isRefusal(error)) return false;
      throw error;
    }
  }

  #earlierNic(): string | undefined {
    try {
      return readFileSync(this.#firstNicFile, 'utf8') || undefined;
    } catch {
      return undefined;
    }
  }
}

function isRefusal(thrown: unknown): boolean {
  return traitsOf(thrown).rejects === 'configuration';
}
