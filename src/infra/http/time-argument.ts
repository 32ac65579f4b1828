import { microsOf } from '../clock/rfc3339.ts';
import { argument, BadRequestError, type RouteRequest } from './route.ts';

/** Seconds, milliseconds, microseconds and nanoseconds: each is the unit of the numbers below its limit. */
const units = [
  { below: 10n ** 11n, micros: (value: bigint) => value * 1_000_000n },
  { below: 10n ** 14n, micros: (value: bigint) => value * 1_000n },
  { below: 10n ** 17n, micros: (value: bigint) => value },
  { below: 10n ** 20n, micros: (value: bigint) => value / 1_000n },
];

/** For the descriptions of arguments. */
export const TIME_ARGUMENT =
  'seconds, milliseconds, microseconds or nanoseconds since 1970, or text';

/**
 * A time: Unix time, whose unit shows in its magnitude, or RFC 3339 text. Clients of the original agent send seconds to
 * the controller and nanoseconds to the scheduler; a time in the wrong unit would select all records, or none.
 * @returns microseconds since the epoch
 * @throws BadRequestError
 */
export function timeArgument(request: RouteRequest, name: string): number | undefined {
  const text = argument(request, name);
  if (text === undefined) return undefined;
  const micros = /^-?[0-9]{1,20}$/.test(text) ? unixMicros(BigInt(text)) : microsOf(text);
  if (micros !== undefined) return micros;
  throw new BadRequestError(
    `argument ${name}="${text}" must be Unix time or RFC 3339 (2026-01-31T12:00:00Z)`,
  );
}

function unixMicros(value: bigint): number | undefined {
  const magnitude = value < 0n ? -value : value;
  const unit = units.find(({ below }) => magnitude < below);
  return unit && Number(unit.micros(value));
}
