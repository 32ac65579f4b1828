/** Rates and counters in words. */
import type { RatePoint, Rates } from './traffic-history.ts';

const prefixes = ['', 'k', 'M', 'G', 'T', 'P'] as const;

/** `0`, `0.4`, `12`, `3.4 k`: three digits at most before the prefix. */
function scaled(number: number): readonly [text: string, prefix: string] {
  let [value, step] = [number, 0];
  // what would be rounded to 1000 has the next prefix
  while (value >= 999.5 && step < prefixes.length - 1) {
    value /= 1_000;
    step++;
  }
  const isWhole = value >= 10 || Math.abs(value - Math.round(value)) < 0.05;
  return [isWhole ? value.toFixed(0) : value.toFixed(1), prefixes[step]!];
}

/** `0 bit/s`, `12 kbit/s`, `1.2 Gbit/s`. */
export function bitRateText(bitsPerSecond: number): string {
  const [text, prefix] = scaled(bitsPerSecond);
  return `${text} ${prefix}bit/s`;
}

/** `0/s`, `3.4/s`, `12 k/s`; what is not nothing is not `0/s`. */
export function perSecondText(perSecond: number): string {
  if (perSecond > 0 && perSecond < 0.1) return '<0.1/s';
  const [text, prefix] = scaled(perSecond);
  return prefix === '' ? `${text}/s` : `${text} ${prefix}/s`;
}

/** `in 12 kbit/s, out 3 kbit/s, drops 0/s`. */
export function trafficText(rates: Rates | undefined): string {
  if (!rates) return 'rates unknown';
  const { inBits, outBits, drops } = rates;
  return `in ${bitRateText(inBits)}, out ${bitRateText(outBits)}, drops ${perSecondText(drops)}`;
}

/** Text in place of a chart. */
export function chartText(points: readonly RatePoint[]): string {
  const known = points.flatMap(({ rates }) => rates ?? []);
  if (known.length === 0) return 'rates unknown yet';
  const highest = (one: 'inBits' | 'outBits'): string =>
    bitRateText(Math.max(...known.map((rates) => rates[one])));
  const seconds = Math.round(points.at(-1)!.at - points[0]!.at);
  return (
    `${trafficText(points.at(-1)!.rates)}; ` +
    `highest of the last ${seconds} s: in ${highest('inBits')}, out ${highest('outBits')}`
  );
}

/** `1,234,567`. */
export function countText(count: number): string {
  return count.toLocaleString('en-US');
}
