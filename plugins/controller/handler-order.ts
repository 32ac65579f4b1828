import type { EventHandler } from './api/event-handler.ts';

/**
 * The order of the handlers for a reverse event: the reverse of their order, but a handler that reads what another one
 * has changed follows that one.
 */
export function reverseOrder(handlers: readonly EventHandler[]): readonly EventHandler[] {
  const order: EventHandler[] = [];
  for (const handler of handlers.toReversed()) {
    const followers = order.filter(({ follows }) => follows === handler.name);
    for (const follower of followers) order.splice(order.indexOf(follower), 1);
    order.push(handler, ...followers);
  }
  return order;
}
