/** The handlers that handle an event. */

import { errorText } from '#infra/errors/errors.ts';
import { FatalError, HandlesEventError } from './api/errors.ts';
import { type Event, EventMethod } from './api/event.ts';
import type { EventHandler } from './api/event-handler.ts';

export interface InterestedHandler {
  readonly handler: EventHandler;
  /** It could not say whether it handles the event: this counts as the error of its call. */
  readonly refusal: Error | undefined;
}

/**
 * A handler without its state handles no update: the change is part of the input of its first resync.
 * @param handlers in the order of their calls
 */
export function interestedHandlers(
  event: Event,
  handlers: readonly EventHandler[],
): InterestedHandler[] {
  const interested: InterestedHandler[] = [];
  const isUpdate = event.kind.method(event.payload) === EventMethod.Update;
  for (const handler of handlers) {
    if (isUpdate && handler.state?.isKnown === false) continue;
    try {
      if (handler.handlesEvent(event)) interested.push({ handler, refusal: undefined });
    } catch (thrown) {
      interested.push({ handler, refusal: refusalOf(handler, thrown) });
    }
  }
  return interested;
}

/** A FatalError stays one. */
function refusalOf({ name }: EventHandler, thrown: unknown): Error {
  if (thrown instanceof FatalError) return thrown;
  const text = `handlesEvent failed: ${errorText(thrown)}`;
  return new HandlesEventError(text, { where: name, cause: thrown });
}
