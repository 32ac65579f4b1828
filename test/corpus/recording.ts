/** The recording of a scenario: parts with a name, each a list of lines. */
import { createHash } from 'node:crypto';
import { documentLines, normalized } from './normalize.ts';

interface Part {
  readonly name: string;
  readonly lines: string[];
  /** Compared in place of the lines; the whole text is written by CV_CORPUS_DUMP. */
  readonly hashes: string[];
  readonly asHash: boolean;
}

export class Recording {
  readonly #parts = new Map<string, Part>();

  /** Adds to the part of this name, which is made where there is none. */
  add(name: string, ...lines: readonly string[]): void {
    this.#part(name, false).lines.push(...lines);
  }

  /** The same for a part that is large: the expectation keeps its hash alone. */
  addLarge(name: string, ...lines: readonly string[]): void {
    this.#part(name, true).lines.push(...lines);
  }

  /** One line of the expectation for all of these parts of one case, each with its hash. */
  addHashed(name: string, title: string, parts: ReadonlyMap<string, readonly string[]>): void {
    const part = this.#part(name, true);
    const hashes = [...parts].map(([of, lines]) => `${of} ${hashOf(lines.join('\n')).slice(0, 8)}`);
    part.hashes.push([title, ...hashes].join(' '));
    part.lines.push(`--- ${title}`);
    for (const [of, lines] of parts) part.lines.push(`- ${of}`, ...lines);
  }

  /** @param value becomes JSON, text for people becomes a placeholder */
  document(name: string, value: unknown, { large = false } = {}): void {
    const lines = documentLines(normalized(value));
    if (large) this.addLarge(name, ...lines);
    else this.add(name, ...lines);
  }

  #part(name: string, asHash: boolean): Part {
    const part = this.#parts.get(name) ?? { name, lines: [], hashes: [], asHash };
    this.#parts.set(name, part);
    return part;
  }

  /** The compared text: large parts as hashes. */
  expectation(): string {
    return this.#text(({ lines, hashes, asHash }) => {
      if (!asHash) return lines.map(shortened);
      return hashes.length > 0 ? hashes : [digest(lines)];
    });
  }

  /** Everything. */
  fullText(): string {
    return this.#text(({ lines }) => lines);
  }

  #text(linesOf: (part: Part) => readonly string[]): string {
    const lines = [...this.#parts.values()].flatMap((part) => [
      `=== ${part.name}`,
      ...linesOf(part),
    ]);
    return `${lines.join('\n')}\n`;
  }
}

const LONGEST_LINE = 1500;

/** Of an operation the values become hashes; a very long line is cut. */
function shortened(full: string): string {
  const line = full.replace(/^(\s*)(\{"Operation":.*\})$/, (_all, indent: string, text: string) => {
    const operation = JSON.parse(text) as Record<string, unknown>;
    for (const name of ['NewValue', 'PrevValue'])
      if (name in operation) operation[name] = hashOf(JSON.stringify(operation[name])).slice(0, 8);
    return indent + JSON.stringify(operation);
  });
  return line.length <= LONGEST_LINE ? line : `${line.slice(0, 300)}… ${digest([line])}`;
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function digest(lines: readonly string[]): string {
  return `sha256 ${hashOf(lines.join('\n'))}, ${lines.length} lines`;
}
