/** The result of a command: tables, documents, text. */
import type { Output, OutputFormat, Table } from '../command.ts';
import { foldedLines, leftOutColumns, type TableStyle, tableLines } from './table-text.ts';
import { safeLine, safeText } from './terminal-text.ts';

export interface OutputOptions extends TableStyle {
  readonly format: OutputFormat;
  readonly write: (text: string) => void;
  readonly writeBytes: (bytes: Uint8Array) => void;
  /** Loaded only for `-o yaml`. */
  /** For what the terminal is too narrow for; it is no part of the result. */
  readonly warn: (text: string) => void;
  readonly yamlText: ((document: unknown) => string) | undefined;
}

export function createOutput(options: OutputOptions): Output {
  const { format, write, warn, yamlText } = options;
  const isDocument = format === 'json' || format === 'yaml';
  const document = (value: unknown): void =>
    write(format === 'yaml' && yamlText ? yamlText(value) : `${safeJson(value, 2)}\n`);
  return {
    format,
    document,
    list(table: Table, value: unknown) {
      if (isDocument) {
        document(value);
        return;
      }
      for (const line of tableLines(table, options)) write(`${line}\n`);
      const titles = leftOutColumns(table, options).join(', ');
      if (titles !== '') warn(`Left out: ${titles}. -o wide shows all columns.`);
    },
    text(text: string) {
      const safe = safeText(text);
      write(safe.endsWith('\n') ? safe : `${safe}\n`);
    },
    bytes: (bytes) => options.writeBytes(bytes),
    prose(text: string) {
      const lines = foldedLines(safeText(text), options.width ?? Infinity);
      write(lines.map((line) => `${line}\n`).join(''));
    },
    event(text: string, value: unknown) {
      if (format === 'yaml' && yamlText) write(`---\n${yamlText(value)}`);
      else write(`${isDocument ? safeJson(value) : safeLine(text)}\n`);
    },
  };
}

/** JSON escapes the C0 controls itself, but not the others. */
function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value ?? null, undefined, indent).replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (one) => `\\u${one.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  );
}
