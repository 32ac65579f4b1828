import { type TSchema, Type } from 'typebox';

const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const PATTERN = '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$';

/** A duration in a configuration file: integer nanoseconds, or text as Go writes it (`1m30s`). */
export type DurationValue = number | string;

export interface DurationOptions {
  /** Nanoseconds, as in the files of the original. */
  readonly default: number;
  readonly description: string;
  /** An interval or a limit: zero is invalid. */
  readonly positive?: boolean;
  /** Milliseconds; default 1. Below it the agent would do nothing else, or nothing at all. */
  readonly leastMs?: number;
}

/**
 * Schema of a duration. Rejects values below the least one, except zero: an operator who writes `30`
 * means seconds, and an interval of 30 nanoseconds would keep the agent busy.
 */
export function Duration({
  positive = false,
  leastMs = 1,
  ...options
}: DurationOptions): ReturnType<typeof Type.Unsafe<DurationValue>> {
  const union = Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: PATTERN })], {
    ...options,
    expected: 'a duration such as 500ms, 5s or 1m30s, or a whole number of nanoseconds',
  });
  const text = leastMs % 1000 === 0 ? `${leastMs / 1000}s` : `${leastMs}ms`;
  const least = positive ? `at least ${text}` : `0 or at least ${text}`;
  const schema: TSchema = Type.Refine(
    union,
    (value) => {
      const ms = durationMs(value);
      return ms >= leastMs || (ms === 0 && !positive);
    },
    () => `has to be ${least}; a number without unit counts nanoseconds`,
  );
  return Type.Unsafe<DurationValue>(schema);
}

/** Milliseconds of a duration in Go's notation; undefined when the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  return new RegExp(PATTERN).test(text) ? durationMs(text) : undefined;
}

/** Milliseconds of a duration that passed its schema. */
export function durationMs(value: DurationValue): number {
  if (typeof value === 'number') return value / 1e6;
  let sum = 0;
  for (const [, number, unit] of value.matchAll(/([0-9.]+)(ns|us|µs|ms|s|m|h)/g))
    sum += Number(number) * units[unit!]!;
  return sum;
}
