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

/** Schema of a duration; the default is in nanoseconds, as the original's files show it. */
export function Duration(options: {
  default: number;
  description: string;
}): ReturnType<typeof Type.Unsafe<DurationValue>> {
  const schema: TSchema = Type.Union(
    [Type.Integer({ minimum: 0 }), Type.String({ pattern: PATTERN })],
    options,
  );
  return Type.Unsafe<DurationValue>(schema);
}

/** Milliseconds of a duration that passed its schema. */
export function durationMs(value: DurationValue): number {
  if (typeof value === 'number') return value / 1e6;
  let sum = 0;
  for (const [, number, unit] of value.matchAll(/([0-9.]+)(ns|us|µs|ms|s|m|h)/g))
    sum += Number(number) * units[unit!]!;
  return sum;
}
