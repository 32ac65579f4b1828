import { type Event, EventMethod } from './api/event.ts';
import { DbResync, Shutdown } from './api/events.ts';

/**
 * Which events may run. Other events wait until a resync has configured VPP: at the start until the
 * first one is committed, after a reconnect until one that reads VPP is committed. While VPP is not
 * connected they run and fail at once, with an error that says so.
 */
export class ResyncGate {
  /** Whether a Database Resync was processed, whatever its outcome. */
  #hasState = false;
  /** Number of the connection to VPP for which the last resync was committed. */
  #configured: number | undefined;
  #hasBeenOpen = false;

  /** Whether a resync was ever committed. */
  get hasBeenOpen(): boolean {
    return this.#hasBeenOpen;
  }

  /** @param generation of the connection to VPP; undefined: it is not connected */
  isOpen(generation: number | undefined): boolean {
    if (!this.#hasBeenOpen) return false;
    return generation === undefined || generation === this.#configured;
  }

  permits(event: Event, generation: number | undefined): boolean {
    if (Shutdown.is(event) || DbResync.is(event)) return true;
    if (!this.#hasState) return false;
    if (this.isOpen(generation)) return true;
    const method = event.kind.method(event.payload);
    if (method === EventMethod.FullResync) return true;
    return this.#hasBeenOpen && method === EventMethod.DownstreamResync;
  }

  /**
   * @param committed the event was committed
   * @param generation in which the event began: a VPP that has connected since was not configured
   */
  processed(event: Event, committed: boolean, generation: number | undefined): void {
    if (DbResync.is(event)) this.#hasState = true;
    const method = event.kind.method(event.payload);
    if (!committed || method === EventMethod.Update) return;
    // An upstream resync does not read VPP, so that it does not configure a restarted one.
    if (method === EventMethod.UpstreamResync) return;
    this.#configured = generation;
    this.#hasBeenOpen = true;
  }
}
