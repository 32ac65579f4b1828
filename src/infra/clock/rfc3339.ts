/**
 * RFC 3339 text in UTC with microseconds, the resolution of the clock, in the form of Go's encoder.
 * @param ms milliseconds since the epoch
 */
export function rfc3339(ms: number): string {
  const micros = Math.round(ms * 1000);
  const seconds = Math.floor(micros / 1e6);
  const fraction = String(micros - seconds * 1e6)
    .padStart(6, '0')
    .replace(/0+$/, '');
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  return `${whole}${fraction ? `.${fraction}` : ''}Z`;
}

// An unescaped plus sign in a URL arrives as a space.
const PATTERN =
  /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([-+ ])(\d\d:\d\d))$/;

/** @returns microseconds since the epoch; undefined for anything but RFC 3339 */
export function microsOf(text: string): number | undefined {
  const match = PATTERN.exec(text);
  if (!match) return undefined;
  const [, date = '', time, fraction = '', sign, offset] = match;
  const zone = sign === undefined ? 'Z' : `${sign === ' ' ? '+' : sign}${offset}`;
  const ms = Date.parse(`${date}T${time}${zone}`);
  const midnight = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(ms) || Number.isNaN(midnight)) return undefined;
  // JavaScript accepts a day after the end of the month as a day of the next month.
  if (!new Date(midnight).toISOString().startsWith(date)) return undefined;
  return ms * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'));
}
