import type { Peer } from '#vpp/binapi/server.ts';
import type { MessageHandlers } from './message-handlers.ts';
import { retval } from './retval.ts';

const ADMIN_UP = 1;
const LINK_UP = 2;

/** A change of an interface; several changes of one index are merged into one event. */
export type InterfaceEventKind =
  | 'added'
  | 'deleted'
  | 'admin-up'
  | 'admin-down'
  | 'link-up'
  | 'link-down';

/**
 * Sends interface events to subscribers. Like in VPP, changes are collected by index and combined
 * with OR: an event says that something changed, not what the state is.
 */
export class InterfaceEvents {
  /** The PID that each subscriber gave; it is returned in events. */
  readonly #subscribers = new Map<Peer, number>();
  readonly #pending = new Map<number, Set<InterfaceEventKind>>();

  record(index: number, happening: InterfaceEventKind): void {
    if (this.#pending.size === 0) queueMicrotask(() => this.#flush());
    const before = this.#pending.get(index) ?? new Set();
    this.#pending.set(index, before.add(happening));
  }

  forget(peer: Peer): void {
    this.#subscribers.delete(peer);
  }

  #flush(): void {
    const happened = [...this.#pending].sort(([a], [b]) => a - b);
    this.#pending.clear();
    for (const [sw_if_index, what] of happened) {
      const flags = (what.has('admin-up') ? ADMIN_UP : 0) | (what.has('link-up') ? LINK_UP : 0);
      for (const [peer, pid] of this.#subscribers)
        peer.sendEvent('sw_interface_event', {
          pid,
          sw_if_index,
          flags,
          deleted: what.has('deleted'),
        });
    }
  }

  handlers(): MessageHandlers {
    return {
      requests: {
        want_interface_events: ({ enable_disable, pid }, peer) => {
          const known = this.#subscribers.has(peer);
          if (known === (enable_disable !== 0)) return retval.INVALID_REGISTRATION;
          if (known) this.#subscribers.delete(peer);
          else this.#subscribers.set(peer, pid);
          return 0;
        },
      },
    };
  }
}
