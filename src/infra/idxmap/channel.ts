/** Changes of a map, for a reader that takes them one by one and may wait between them. */
import type { Clock, Timer } from '../clock/clock.ts';
import { Fifo } from '../collections/fifo.ts';
import type { Logger } from '../log/log.ts';
import type { MappingEvent, NamedMapping } from './idxmap.ts';

/** A change that is not taken within this time is dropped. */
const LIMIT_MS = 2_000;

export interface ChannelDeps {
  readonly clock: Clock;
  readonly log: Logger;
}

/** Ends when the loop over it ends, or when it is closed. */
export interface Channel<V> extends AsyncIterable<MappingEvent<V>> {
  close(): void;
}

/** @throws SubscriberExistsError */
export function toChannel<V>(
  map: NamedMapping<V>,
  subscriber: string,
  { clock, log }: ChannelDeps,
): Channel<V> {
  const waiting = new Fifo<{ readonly event: MappingEvent<V>; readonly until: number }>();
  let wake = Promise.withResolvers<void>();
  let timer: Timer | undefined;
  let isClosed = false;

  /** Drops what has waited too long; the oldest is the first that does. */
  const expire = (): void => {
    timer = undefined;
    for (let first = waiting.first; first; first = waiting.first) {
      const left = first.until - clock.monotonic();
      if (left > 0) {
        timer = clock.timer(left, expire);
        return;
      }
      waiting.shift();
      const fields = { map: map.title, subscriber, name: first.event.name };
      log.warn(fields, 'dropping change of a map: its reader is too slow');
    }
  };
  const stop = map.watch(subscriber, (event) => {
    waiting.push({ event, until: clock.monotonic() + LIMIT_MS });
    timer ??= clock.timer(LIMIT_MS, expire);
    wake.resolve();
  });
  const close = (): void => {
    isClosed = true;
    stop();
    timer?.cancel();
    wake.resolve();
  };
  return {
    close,
    async *[Symbol.asyncIterator]() {
      try {
        while (!isClosed) {
          const next = waiting.shift();
          if (next) yield next.event;
          else {
            wake = Promise.withResolvers();
            await wake.promise;
          }
        }
      } finally {
        close();
      }
    },
  };
}
