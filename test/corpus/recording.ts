/** The recording of a scenario: parts with a name, each a list of lines. */
import { createHash } from 'node:crypto';

interface Part {
  readonly name: string;
  readonly lines: string[];
  /** The hash is compared in place of the lines; the whole text is written by CV_CORPUS_DUMP. */
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

  #part(name: string, asHash: boolean): Part {
    const part = this.#parts.get(name) ?? { name, lines: [], asHash };
    this.#parts.set(name, part);
    return part;
  }

  /** The compared text: large parts as hashes. */
  expectation(): string {
    return this.#text(({ lines, asHash }) => (asHash ? [digest(lines)] : lines.map(shortened)));
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
