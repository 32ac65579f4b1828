/** Values in words. */
import type { Retries, ValueDependency } from '#documents/scheduler/single-value.ts';
import type { ValueSummary } from '#documents/scheduler/value-search.ts';
import { ageText } from '../../components/times.ts';

/** The reason why a value is not as desired, in a row of a table. */
export function summaryText({ error, details, detailCount, state }: ValueSummary): string {
  const more = detailCount - details.length;
  const list = details.join(', ') + (more > 0 ? ` and ${more} more` : '');
  if (state === 'PENDING') return list === '' ? '' : `waits for ${list}`;
  return [error, list].filter(Boolean).join('; ');
}

/** @param now in milliseconds since the epoch */
export function retriesText({ started, maximum, nextAt }: Retries, now: number): string {
  const limit = maximum === 0 ? '' : ` of at most ${maximum}`;
  const past = started === 0 ? 'Not retried yet' : `${count(started, 'retry', 'retries')}${limit}`;
  if (nextAt === undefined) return `${past}; it is not retried any more.`;
  const inMs = Date.parse(nextAt) - now;
  const when = inMs < 1_000 ? 'now' : `in ${ageText(inMs)}`;
  return `${past}; retry ${started + 1}${limit} is due ${when}.`;
}

/** The condition of a dependency, without its label. */
export function conditionText({ key, prefixes = [], isSelective }: ValueDependency): string {
  const any = prefixes.map((prefix) => `${prefix}…`).join(' or ');
  const selector = any === '' ? '' : `${isSelective ? 'some keys' : 'any key'} with ${any}`;
  return [key, selector].filter(Boolean).join(', or ');
}

export function count(number: number, one: string, many: string): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`;
}
