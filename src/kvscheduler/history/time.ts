/** Converts times to text and back, with microsecond precision. */
export { microsOf } from '#infra/clock/rfc3339.ts';

/** Rounds to whole microseconds, so that the time equals the one that its text is parsed to. */
export function wholeMicros(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** RFC 3339 text of milliseconds since the epoch; fractions are shown. */
export function timeText(ms: number): string {
  const micros = Math.round(ms * 1000);
  const whole = Math.floor(micros / 1000);
  const text = new Date(whole).toISOString();
  const rest = micros - whole * 1000;
  return rest === 0 ? text : `${text.slice(0, -1)}${String(rest).padStart(3, '0')}Z`;
}
