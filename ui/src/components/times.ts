/** Times and durations as people read them. */

/** `14:03:09.123` of UTC, as logs and netctl have it; who shows it says so. */
export function timeOfDay(rfc3339: string): string {
  const date = new Date(rfc3339);
  if (Number.isNaN(date.getTime())) return rfc3339;
  return date.toISOString().slice(11, 23);
}

/** `0.42 ms`, `12 ms`, `3.1 s`, `5 min`. */
export function durationText(ms: number): string {
  if (ms < 10) return `${ms.toFixed(2)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return ageText(ms);
}

/** Time that has passed, in its largest unit: `3 s`, `5 min`, `2 h`, `9 days`. */
export function ageText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** `2026-11-29 08:06:20 UTC`: the time that logs and other nodes have. */
export function utcText(rfc3339: string): string {
  const date = new Date(rfc3339);
  if (Number.isNaN(date.getTime())) return rfc3339;
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
