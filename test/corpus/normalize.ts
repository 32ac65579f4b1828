/**
 * Normalizes a document before it is recorded. Names of fields, keys, states, numbers and order are
 * kept; text for people is replaced by a placeholder, so that it can be rewritten. Class names
 * of errors are in no recorded document; of an error that was thrown its code is recorded alone.
 */

/** Fields whose text is for people: what stays is whether there is any, and the codes in it. */
const textFields: ReadonlySet<string> = new Set([
  // /scheduler/txn-history, /scheduler/plan, /scheduler/downstream-resync
  'Description',
  'NewErrMsg',
  'PrevErrMsg',
  'RetrieveErrors',
  'VerificationErrors',
  // every REST document that contains a failure
  'Error',
  'error',
  // /controller/event-history
  'Change',
  'ErrorStr',
  'TxnErrorStr',
  // /controller/verification: handlers' data as they look in the program
  'Before',
  'After',
]);

/** Fields whose text is for people and names keys of values: these stay as well. */
const keyedTextFields: ReadonlySet<string> = new Set(['Reason']);

/** Fields that depend on the machine, the build or the process and not on what the agent does. */
const volatileFields: ReadonlySet<string> = new Set(['build_version', 'commit_hash', 'vpe_pid']);

/** Paths of scenario folders, counters of stores, and masked secrets, whose hash has a random key, in any text. */
const volatileText: readonly (readonly [RegExp, string])[] = [
  [/\/[^\s"]*corpus-[A-Za-z0-9]{6}/g, '<folder>'],
  [/\bmemory\d+\b/g, 'memory#'],
  [/\*\*\*[0-9a-f]{16}\b/g, '***'],
];

/** The placeholder of a text: nothing stays nothing, and stable codes of errors stay. */
export function placeholder(text: string, withKeys = false): string {
  if (text === '') return '';
  const codes = text.match(/\bCV_[A-Z0-9_]+/g) ?? [];
  const keys = withKeys ? (text.match(/[^\s,;()"]+\/[^\s,;()"]*/g) ?? []) : [];
  return `<${['text', ...codes, ...keys.map((key) => key.replace(/[.:]+$/, ''))].join(' ')}>`;
}

export function withoutVolatile(text: string): string {
  return volatileText.reduce((all, [pattern, by]) => all.replace(pattern, by), text);
}

/** A whole document of an answer: one that is nothing but a text is written for people. */
export function normalizedDocument(document: unknown): unknown {
  return typeof document === 'string' ? placeholder(document) : normalized(document);
}

/** A JSON value with placeholders, and with what JSON does not know as text. */
export function normalized(value: unknown, field = '', isText = false): unknown {
  const texts = isText || textFields.has(field) || keyedTextFields.has(field);
  if (volatileFields.has(field)) return '<volatile>';
  if (typeof value === 'string') {
    const own = withoutVolatile(value);
    return texts ? placeholder(own, keyedTextFields.has(field)) : own;
  }
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`;
  if (Array.isArray(value)) return value.map((one) => normalized(one, field, texts));
  if (value instanceof Map) return normalized(Object.fromEntries(value), field);
  if (typeof value !== 'object' || value === null) return value;
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return normalized(value.toJSON(), field);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, normalized(one, name, texts)]),
  );
}

/** Names, types and numbers of samples of Prometheus metrics, without those of the process. */
export function normalizedMetrics(text: string): string[] {
  const [, ...metrics] = text.split(/^# TYPE /m);
  return metrics
    .filter((metric) => !/^(process|nodejs)_/.test(metric))
    .map((metric) => {
      const [head = '', ...samples] = metric.split('\n');
      return `${head} ${samples.filter((line) => /^\w/.test(line)).length}`;
    });
}

const LINE_WIDTH = 1000;

/** JSON of one line, or with its elements below each other where that would be too long. */
export function documentLines(value: unknown, indent = ''): string[] {
  const text = JSON.stringify(value) ?? 'undefined';
  if (typeof value !== 'object' || value === null) return [indent + text];
  if (indent.length + text.length <= LINE_WIDTH || isEntry(value)) return [indent + text];
  const inside = `${indent} `;
  const entries = Object.entries(value);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const lines = [`${indent}${open}`];
  for (const [name, one] of entries) {
    const head = Array.isArray(value) ? '' : `${JSON.stringify(name)}:`;
    const [first = '', ...rest] = documentLines(one, inside);
    lines.push(inside + head + first.trimStart(), ...rest);
  }
  return [...lines, `${indent}${close}`];
}

/** An operation or a value of a transaction is one line, however long it is. */
function isEntry(value: object): boolean {
  return 'Key' in value && ('Operation' in value || 'Origin' in value) && !('Targets' in value);
}

/** Requests to VPP, a line each; what is read between two changes is one line with the numbers of the requests. */
export function requestLines(
  requests: readonly { readonly name: string; readonly fields: unknown }[],
): string[] {
  const lines: string[] = [];
  const reads = new Map<string, number>();
  const endReads = (): void => {
    const counts = [...reads].map(([name, count]) => `${name}×${count}`);
    if (counts.length > 0) lines.push(`reads ${counts.join(' ')}`);
    reads.clear();
  };
  for (const { name, fields } of requests)
    if (/_dump(_v2)?$|_get$|_get_table$|_is_enabled$|show_/.test(name))
      reads.set(name, (reads.get(name) ?? 0) + 1);
    else {
      endReads();
      lines.push(`${name} ${JSON.stringify(normalized(fields))}`);
    }
  endReads();
  return lines;
}

/** A record of a transaction that does not repeat the plan where all of it was executed. */
export function withoutRepetition(record: unknown): unknown {
  if (typeof record !== 'object' || record === null || !('Executed' in record)) return record;
  const { Planned, Executed } = record as { Planned?: unknown; Executed: unknown };
  const isSame = JSON.stringify(Planned) === JSON.stringify(Executed);
  return isSame ? { ...record, Executed: '(as Planned)' } : record;
}
