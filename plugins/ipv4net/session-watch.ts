/** Pushes an event when VPP has other sessions of WireGuard than before. */
import type { Clock, Timer } from '#infra/clock/clock.ts';
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import { EventQueueFullError } from '#plugins/controller/api/errors.ts';
import type { EventLoop } from '#plugins/controller/api/event-handler.ts';
import type { WireguardSessionPort } from '#plugins/controller/api/ports/wireguard.ts';
import { SessionChange } from './api.ts';

/** Delay before a change is pushed again that the event loop rejected. */
const RETRY_MS = 1_000;

export interface SessionWatchDeps {
  readonly sessions: Pick<WireguardSessionPort, 'onChange'>;
  readonly loop: Pick<EventLoop, 'push'>;
  readonly clock: Pick<Clock, 'timer'>;
  readonly log: Logger;
}

export function wireSessionWatch({ sessions, loop, clock, log }: SessionWatchDeps): Component {
  /** Changes that were not pushed: the last one of each key. */
  const changes = new Map<string, boolean>();
  let retry: Timer | undefined;
  let end: () => void = () => undefined;
  const push = (): void => {
    retry?.cancel();
    retry = undefined;
    const all = [...changes];
    const keysOf = (isEstablished: boolean): string[] =>
      all.filter(([, state]) => state === isEstablished).map(([key]) => key);
    try {
      loop.push(SessionChange.event({ established: keysOf(true), ended: keysOf(false) }));
      changes.clear();
    } catch (error) {
      // VPP reports it once, so it is pushed again; a closed loop accepts no more events
      log.warn({ err: error }, 'event loop rejected a change of sessions');
      if (error instanceof EventQueueFullError) retry = clock.timer(RETRY_MS, push);
    }
  };
  return {
    name: 'WireGuard session watch',
    init: () => {
      end = sessions.onChange((changed) => {
        for (const { publicKey, isEstablished } of changed) changes.set(publicKey, isEstablished);
        push();
      });
    },
    close: () => {
      retry?.cancel();
      end();
    },
  };
}
