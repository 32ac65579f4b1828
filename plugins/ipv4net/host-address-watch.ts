/**
 * Pushes an event when the host has other addresses than those of the last resync or change of the Node. They are read at
 * intervals: nothing that waits for the kernel's notification could be ended with the agent.
 */
import type { Logger } from '#infra/log/log.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import { type RepeatedWorkDeps, repeatedWork } from '#infra/process/repeated-work.ts';
import type { EventLoop } from '#plugins/controller/api/event-handler.ts';
import type { HostPort } from '#plugins/controller/api/ports/host.ts';
import { HostAddressChange, type Ipv4NetApi } from './api.ts';

/** A datagram of the host whose source was lost fails for so long. */
const INTERVAL_MS = 10_000;
/** An event that is processed while the host does not answer changes nothing: it is repeated after so many intervals. */
const READINGS_UNTIL_REPEATED = 6;

export interface HostAddressWatchDeps extends RepeatedWorkDeps {
  readonly host: Pick<HostPort, 'links'>;
  readonly net: Pick<Ipv4NetApi, 'otherHostAddresses'>;
  readonly loop: Pick<EventLoop, 'push'>;
  readonly log: Logger;
}

export function hostAddressWatch(deps: HostAddressWatchDeps): Component {
  const watch = new HostAddressWatch(deps);
  return repeatedWork(
    {
      name: 'host address watch',
      intervalMs: INTERVAL_MS,
      work: () => watch.read(),
      onFailure: (error) =>
        deps.log.warn({ err: error }, 'a change of the addresses of the host may be noticed late'),
    },
    deps,
  );
}

class HostAddressWatch {
  readonly #deps: HostAddressWatchDeps;
  /** Addresses of the last event, as text, until they are those of this node; how often they were read since then. */
  #pushed: { readonly text: string; readonly readings: number } | undefined;

  constructor(deps: HostAddressWatchDeps) {
    this.#deps = deps;
  }

  async read(): Promise<void> {
    const { host, net, loop } = this.#deps;
    const links = await host.links();
    const addresses = net.otherHostAddresses(links);
    const text = addresses?.join();
    const before = this.#pushed;
    const waits = before && before.text === text && before.readings < READINGS_UNTIL_REPEATED;
    if (addresses && !waits) loop.push(HostAddressChange.event({ addresses }));
    this.#pushed =
      text === undefined ? undefined : { text, readings: waits ? before.readings + 1 : 1 };
  }
}
