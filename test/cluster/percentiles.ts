/** `p50 1.20 s, p99 3.40 s (20 values)` @param times in milliseconds */
export function percentiles(times: readonly number[]): string {
  if (times.length === 0) return 'not measured';
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number): string =>
    durationText(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!);
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)} (${times.length} values)`;
}

/** `12 ms`, `1.20 s` */
export const durationText = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
