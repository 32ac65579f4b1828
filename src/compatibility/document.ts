/** REST documents of the original agent, in its shapes. */
import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import type { Route } from '#infra/http/route.ts';
import { streamedJson } from '#infra/http/streamed.ts';
import type { Southbound } from './southbound.ts';

export interface DocumentDeps {
  readonly southbound: Southbound;
  readonly clock: Clock;
}

export function documentRoute(
  path: string,
  summary: string,
  clock: Clock,
  read: () => Promise<unknown>,
): Route {
  return {
    method: 'GET',
    path,
    mutating: false,
    summary,
    handle: async () => streamedJson(await read(), clock),
  };
}

/** Go writes a list to which nothing was added as `null`. */
export async function listOf<T, R>(
  clock: Clock,
  items: readonly T[],
  convert: (item: T) => R,
): Promise<readonly R[] | null> {
  if (items.length === 0) return null;
  const slices = new Slices(clock);
  const converted: R[] = [];
  for (const item of items) {
    if (slices.due()) await slices.turn();
    converted.push(convert(item));
  }
  return converted;
}

/** Go writes a map, also an empty one, as an object. */
export async function mapOf<T>(
  clock: Clock,
  items: readonly T[],
  convert: (item: T) => readonly [key: string | number, value: unknown],
): Promise<Readonly<Record<string, unknown>>> {
  const entries = await listOf(clock, items, convert);
  return Object.fromEntries(entries ?? []);
}
