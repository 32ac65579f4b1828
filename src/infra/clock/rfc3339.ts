/**
 * RFC 3339 text, in UTC, with the microseconds that our clock resolves: what Go's encoder writes
 * for a time.
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
