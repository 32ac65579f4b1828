/** The two boxes that every event leaves in the log: one when it arrives, one when it is done. */

const WIDTH = 130;
/** Room for the text of a line: without `*   ` and ` *`. */
const TEXT_WIDTH = WIDTH - 6;
/** Descriptions are wrapped here. */
const WRAP_AT = 110;
/** What a wrapped line is indented by, beyond the line it continues. */
const WRAP_INDENT = 6;
/** Second and later lines of a description stand under the first: behind `NEW EVENT: `. */
const CONTINUATION = ' '.repeat('NEW EVENT: '.length);

/** A line of a box: text on the left, an optional remark on the right. */
function line(left: string, right = ''): string {
  const room = TEXT_WIDTH - right.length;
  const text = left.length > room ? `${left.slice(0, room - 1)}…` : left.padEnd(room);
  return `*   ${text}${right} *`;
}

/** Cuts a line at spaces (a word that is too long, anywhere), keeping its indent. */
export function wrap(text: string, width = WRAP_AT): string[] {
  if (text.length <= width) return [text];
  const indent = ' '.repeat(text.length - text.trimStart().length + WRAP_INDENT);
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const space = rest.lastIndexOf(' ', width);
    const found = space > (lines.length === 0 ? 0 : indent.length);
    const cut = found ? space : width;
    lines.push(rest.slice(0, cut));
    rest = indent + rest.slice(found ? cut + 1 : cut);
  }
  lines.push(rest);
  return lines;
}

/** Headline with the rest of the text below it, aligned and wrapped. */
function block(headline: string, text: string, right: string): string[] {
  const [first = '', ...more] = text.split('\n').flatMap((part) => wrap(part));
  return [
    line(`${headline}: ${first}`, right),
    ...more.flatMap((part) => wrap(CONTINUATION + part, TEXT_WIDTH)).map((part) => line(part)),
  ];
}

function list(headline: string, items: readonly string[]): string[] {
  return [
    line(`${headline}:`),
    ...items
      .flatMap((item) => item.split('\n'))
      .flatMap((item) => wrap(`    * ${item}`))
      .map((item) => line(item)),
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
