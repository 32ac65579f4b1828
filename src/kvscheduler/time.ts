/** Moments as text and back, to the microsecond that the clock resolves. */

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

// A plus sign that was not escaped in a URL arrives as a space.
const rfc3339 =
  /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([-+ ])(\d\d:\d\d))$/;

/** @returns microseconds since the epoch; undefined for anything but RFC 3339 */
export function microsOf(text: string): number | undefined {
  const match = rfc3339.exec(text);
  if (!match) return undefined;
  const [, date = '', time, fraction = '', sign, offset] = match;
  const zone = sign === undefined ? 'Z' : `${sign === ' ' ? '+' : sign}${offset}`;
  const ms = Date.parse(`${date}T${time}${zone}`);
  const midnight = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(ms) || Number.isNaN(midnight)) return undefined;
  // A day that the month does not have is taken for one of the next month.
  if (!new Date(midnight).toISOString().startsWith(date)) return undefined;
  return ms * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'));
}
