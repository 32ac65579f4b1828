/** Milliseconds as text: their median, 99th percentile and maximum. */
export function quantiles(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0);
  return `median ${at(0.5)} ms, p99 ${at(0.99)} ms, at most ${at(1)} ms`;
}
