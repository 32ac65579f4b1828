/** The event history as text for operators. */

import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { EventMethod } from './api/event.ts';
import { printable } from './banner.ts';
import type { EventHistory } from './event-history.ts';
import type { EventRecord, EventTrace, HandlingRecord } from './event-record.ts';

const methodNames = new Map<number, string>(
  Object.entries(EventMethod).map(([name, number]) => [number, name]),
);

/** Text of the history while no event is recorded. */
export const RECORDING_IS_OFF =
  'Events are not recorded: recordEventHistory is false in controller.conf.';

/** @param records of the history, selected by a request */
export function* historyText(
  records: readonly EventRecord[],
  { dropped: { byAge, bySize }, isOff }: Pick<EventHistory, 'dropped' | 'isOff'>,
): Generator<string, void, void> {
  if (byAge + bySize > 0)
    yield `Dropped older records: ${byAge} by age, ${bySize} by size of the history.\n\n`;
  for (const record of records) yield `${recordText(record)}\n`;
  if (records.length === 0) yield isOff ? `${RECORDING_IS_OFF}\n` : 'No events.\n';
}

function recordText(record: EventRecord): string {
  const { seqNum, followUpTo, description, handlers, transactionError, transaction } = record;
  const [headline = '', ...more] = description.split('\n');
  const followUp = followUpTo === undefined ? '' : ` (follow-up to #${followUpTo})`;
  const took = ms(record.end - record.start);
  const lines = [
    `#${seqNum} ${rfc3339(record.start)} ${headline}${followUp}`,
    ...more.map((line) => `    ${line}`),
    `  ${methodNames.get(record.method)}, took ${took}${traceText(record.trace)}`,
    ...handlers.map(handlerText),
  ];
  if (transaction !== undefined) lines.push(`  ${transactionText(transaction, record.trace)}`);
  if (transactionError !== undefined) lines.push(`  TRANSACTION ERROR: ${transactionError}`);
  return `${lines.flatMap(continued).map(printable).join('\n')}\n`;
}

/** The lines of a text; those after the first are indented. */
function continued(text: string): string[] {
  const [first = '', ...more] = text.split('\n');
  return [first, ...more.map((line) => `      ${line}`)];
}

function traceText({ origin, queuedMs, totalMs }: EventTrace): string {
  const texts = [`queued ${ms(queuedMs)}`, `total ${ms(totalMs)}`];
  if (origin?.key !== undefined) texts.push(`caused by ${origin.key}`);
  if (origin?.revision !== undefined) texts.push(`revision ${origin.revision}`);
  if (origin?.container !== undefined) texts.push(`for container ${origin.container}`);
  return texts.map((text) => `, ${text}`).join('');
}

function handlerText({ handler, revert, change, error, tookMs }: HandlingRecord): string {
  const texts = [`  ${handler}${revert ? ' (REVERT)' : ''} ${ms(tookMs)}`];
  if (change !== '') texts.push(change);
  if (error !== undefined) texts.push(`ERROR: ${error}`);
  return texts.join(': ');
}

function transactionText(seqNum: number, { commitMs = 0, transaction }: EventTrace): string {
  const text = `transaction #${seqNum} ${ms(commitMs)}`;
  if (!transaction) return text;
  const { readingMs, planningMs, executionMs, operations } = transaction;
  const parts = `reading ${ms(readingMs)}, planning ${ms(planningMs)}, execution ${ms(executionMs)}`;
  return `${text}: ${parts}, ${operations} operations`;
}

function ms(duration: number): string {
  return `${duration.toFixed(duration < 10 ? 2 : 0)}ms`;
}
