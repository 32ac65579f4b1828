/** The two log boxes of each event: one when processing starts, one when it has ended. */
import { fittingEnd, widthOf } from '#infra/text/text-width.ts';

const WIDTH = 130;
/** Width of the text of a line: without `*   ` and ` *`. */
const TEXT_WIDTH = WIDTH - 6;
/** Descriptions are wrapped at this column. */
const WRAP_AT = 110;
/** Additional indent of a continuation line. */
const WRAP_INDENT = 6;
/** Maximum number of lines of one text in a box; the event history has all of it. */
const MAX_LINES = 200;
/** Control characters: names of pods and texts of errors are untrusted. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** Second and later lines of a description are aligned with the first, behind `NEW EVENT: `. */
const continuation = ' '.repeat('NEW EVENT: '.length);

/** A line of a box: text on the left, optional text on the right. */
function line(left: string, right = ''): string {
  const room = TEXT_WIDTH - widthOf(right);
  const text = widthOf(left) > room ? `${left.slice(0, fittingEnd(left, 0, room - 1))}…` : left;
  return `*   ${text}${' '.repeat(Math.max(0, room - widthOf(text)))}${right} *`;
}

/**
 * Wraps a line at spaces (a word that is too long, anywhere) and keeps its indent.
 * @param width in columns
 */
export function wrap(text: string, width = WRAP_AT): string[] {
  const given = text.length - text.trimStart().length;
  const indent = ' '.repeat(Math.min(given + WRAP_INDENT, width >> 1));
  const lines: string[] = [];
  let at = 0;
  for (let lead = ''; ; lead = indent) {
    const end = fittingEnd(text, at, width - lead.length);
    if (end >= text.length) break;
    const space = text.slice(at, end + 1).lastIndexOf(' ');
    const cut = space > 0 ? at + space : end;
    lines.push(lead + text.slice(at, cut));
    at = space > 0 ? cut + 1 : cut;
  }
  lines.push((at === 0 ? '' : indent) + text.slice(at));
  return lines;
}

/** Escapes control characters. */
export function printable(text: string): string {
  return text.replace(CONTROL_CHARACTERS, (character) => {
    const code = character.codePointAt(0)!.toString(16);
    return code.length > 2 ? `\\u{${code}}` : `\\x${code.padStart(2, '0')}`;
  });
}

/** The lines of a text, up to the maximum of a box. */
function linesOf(text: string): string[] {
  const lines = text.split('\n');
  const shown = lines.slice(0, MAX_LINES).map((line) => printable(line));
  if (lines.length > shown.length) shown.push(`… ${lines.length - shown.length} more lines`);
  return shown;
}

/** Headline with the rest of the text below, aligned and wrapped. */
function block(headline: string, text: string, right: string): string[] {
  const [first = '', ...more] = linesOf(text).flatMap((part) => wrap(part));
  return [
    line(`${headline}: ${first}`, right),
    ...more.flatMap((part) => wrap(continuation + part, TEXT_WIDTH)).map((part) => line(part)),
  ];
}

/** One bullet for each item; its further lines are aligned with its first. */
function list(headline: string, items: readonly string[]): string[] {
  const bulleted = items.flatMap((item) =>
    linesOf(item).map((text, at) => `    ${at === 0 ? '*' : ' '} ${text}`),
  );
  return [
    line(`${headline}:`),
    ...bulleted.flatMap((item) => wrap(item)).map((item) => line(item)),
  ];
}

function box(border: string, lines: readonly string[]): string {
  const edge = border.repeat(WIDTH);
  return `${edge}\n${lines.join('\n')}\n${edge}\n`;
}

export interface ArrivalBanner {
  readonly seqNum: number;
  readonly followUpTo: number | undefined;
  readonly description: string;
  readonly handlers: readonly string[];
}

export function arrivalBanner(event: ArrivalBanner): string {
  const headline =
    event.followUpTo === undefined ? 'NEW EVENT' : `NEW EVENT (follow-up to #${event.followUpTo})`;
  const lines = block(headline, event.description, ` #${event.seqNum}`);
  if (event.handlers.length > 0)
    lines.push(...wrap(`EVENT HANDLERS: ${event.handlers.join(', ')}`).map((text) => line(text)));
  return box('>', lines);
}

export interface OutcomeBanner {
  readonly seqNum: number;
  readonly description: string;
  readonly handledBy: readonly string[];
  readonly revertedBy: readonly string[];
  readonly errors: readonly string[];
  readonly transactionError: string | undefined;
  readonly hasTransaction: boolean;
  readonly tookMs: number;
}

export function outcomeBanner(event: OutcomeBanner): string {
  const [headline = ''] = event.description.split('\n');
  const lines = block('FINALIZED EVENT', headline, ` #${event.seqNum}`);
  const took = ` took ${Math.round(event.tookMs)}ms`;
  const handled =
    event.handledBy.length > 0
      ? `HANDLED BY: ${event.handledBy.join(', ')}`
      : event.hasTransaction
        ? 'HANDLED BY VPP-AGENT'
        : 'NOT HANDLED';
  const [first = '', ...more] = wrap(handled);
  lines.push(line(first, took), ...more.map((text) => line(text)));
  if (event.errors.length > 0) lines.push(...list('ERRORS', event.errors));
  if (event.revertedBy.length > 0)
    lines.push(...wrap(`REVERTED BY: ${event.revertedBy.join(', ')}`).map((text) => line(text)));
  if (event.transactionError !== undefined)
    lines.push(...list('TRANSACTION ERROR', [event.transactionError]));
  return box('<', lines);
}
