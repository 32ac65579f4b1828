/** Moments as text and back, to the microsecond that the clock resolves. */
export { microsOf } from '#infra/clock/rfc3339.ts';

/** Milliseconds that are a whole number of microseconds, so that their text finds them again. */
export function wholeMicros(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** RFC 3339 of milliseconds since the epoch; their fraction gives further digits. */
export function timeText(ms: number): string {
  const micros = Math.round(ms * 1000);
  const whole = Math.floor(micros / 1000);
  const text = new Date(whole).toISOString();
  const rest = micros - whole * 1000;
  return rest === 0 ? text : `${text.slice(0, -1)}${String(rest).padStart(3, '0')}Z`;
}
