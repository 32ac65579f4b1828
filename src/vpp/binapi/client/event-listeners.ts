import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { MessageCodec } from '../codec/codec.ts';
import type { Reader } from '../codec/runtime.ts';

type Listener = (event: object) => void;

/** Listeners by event name; they are kept across connections. */
export class EventListeners {
  readonly #byName = new Map<string, Set<Listener>>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @returns a function that removes the listener */
  add(name: string, listener: Listener): () => void {
    // wrapped, so that the same listener may be added twice and removed once
    const own: Listener = (event) => listener(event);
    const listeners = this.#byName.get(name) ?? new Set();
    this.#byName.set(name, listeners.add(own));
    return () => listeners.delete(own);
  }

  /** Logs an invalid event or a listener that throws; the connection is not affected. */
  deliver(codec: MessageCodec, reader: Reader): void {
    const listeners = this.#byName.get(codec.name);
    if (!listeners || listeners.size === 0) return;
    let event: object;
    try {
      event = codec.decode(reader);
    } catch (error) {
      this.#log.warn({ event: codec.name, error: errorText(error) }, 'ignoring invalid VPP event');
      return;
    }
    for (const listener of [...listeners])
      try {
        listener(event);
      } catch (error) {
        this.#log.error({ event: codec.name, error: errorText(error) }, 'event listener failed');
      }
  }
}
