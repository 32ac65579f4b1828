import type { Event, EventOrigin } from '#plugins/controller/api/event.ts';
import {
  DATASTORE_SOURCE,
  ExternalConfigChange,
  KubeStateChange,
} from '#plugins/controller/api/events.ts';
import type { Difference } from './last-known-state.ts';

/** The event that reports the change of a value. */
export function changeEvent(
  { watchedKey, previous, current }: Difference,
  origin?: EventOrigin,
): Event {
  const { resource, key } = watchedKey;
  if (resource !== undefined)
    return KubeStateChange.event({ resource, key, previous, current }, origin);
  const values = { [key]: current ?? null };
  return ExternalConfigChange.event({ source: DATASTORE_SOURCE, values }, origin);
}
