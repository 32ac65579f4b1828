/** A row of the table in docs/performance.md, and the parts that measure the rows. */
import type { SkipReason } from '#test/support/requirements.ts';

export interface Row {
  /** The work. */
  readonly name: string;
  /** The least that it costs without the agent; empty without a reference. */
  readonly reference: string;
  readonly ours: string;
  /** Ours to the reference; empty where the target is no ratio. */
  readonly ratio: string;
  readonly target: string;
  readonly met: boolean;
}

export interface Part {
  readonly title: string;
  /** Programs and rights without which none of its rows can be measured. */
  needs(): SkipReason;
  rows(): AsyncGenerator<Row>;
}

/** Rounds in which the reference and ours take turns. */
export const ROUNDS = 5;

/** One round of each in turn, after a first that does not count. */
export async function inTurns<Measured extends Readonly<Record<string, () => Promise<unknown>>>>(
  measured: Measured,
  rounds = ROUNDS,
): Promise<{ readonly [Name in keyof Measured]: readonly Awaited<ReturnType<Measured[Name]>>[] }> {
  const results = new Map<string, unknown[]>();
  for (const name of Object.keys(measured)) results.set(name, []);
  for (let round = 0; round <= rounds; round++)
    for (const [name, measure] of Object.entries(measured)) {
      const result = await measure();
      if (round > 0) results.get(name)?.push(result);
    }
  return Object.fromEntries(results) as never;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** @param of from 0 to 1 */
export function quantile(values: readonly number[], of: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(of * sorted.length))] as number;
}

export const thousands = (value: number): string => Math.round(value).toLocaleString('en');

export const milliseconds = (value: number): string =>
  `${value < 10 ? value.toFixed(1) : thousands(value)} ms`;

export const megabytes = (bytes: number): string => `${thousands(bytes / 2 ** 20)} MB`;
