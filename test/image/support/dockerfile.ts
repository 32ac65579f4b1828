/** Reads the instructions of a Dockerfile: those that the one of this repository has. */

const known = [
  'ADD',
  'ARG',
  'CMD',
  'COPY',
  'ENTRYPOINT',
  'ENV',
  'EXPOSE',
  'FROM',
  'LABEL',
  'RUN',
  'WORKDIR',
] as const;

export interface Instruction {
  readonly name: (typeof known)[number];
  /** `--from=build` of COPY: `from` and `build`. */
  readonly flags: Readonly<Record<string, string>>;
  /** The rest, with variables. */
  readonly text: string;
}

export interface Stage {
  readonly name: string;
  /** An image or a stage, with variables. */
  readonly from: string;
  readonly instructions: readonly Instruction[];
}

export interface Dockerfile {
  /** Arguments before the first stage. */
  readonly args: readonly Instruction[];
  readonly stages: readonly Stage[];
}

/** @throws Error for an instruction or a form that the Dockerfile did not have so far */
export function parseDockerfile(text: string): Dockerfile {
  const args: Instruction[] = [];
  const stages: { name: string; from: string; instructions: Instruction[] }[] = [];
  for (const line of logicalLines(text)) {
    const instruction = parseInstruction(line);
    if (instruction.name === 'FROM') {
      const [from, as, name] = words(instruction.text);
      if (from === undefined || as !== 'AS' || name === undefined)
        throw new Error(`a stage needs a name: ${line}`);
      stages.push({ name, from, instructions: [] });
    } else (stages.at(-1)?.instructions ?? args).push(instruction);
  }
  return { args, stages };
}

/** Words that are separated by blanks; quotes keep blanks. */
export function words(text: string): string[] {
  return (text.match(/(?:[^\s"]|"[^"]*")+/g) ?? []).map((word) => word.replaceAll('"', ''));
}

/** `a=b c="d e"`, of ENV, LABEL and ARG. */
export function assignments(text: string): (readonly [string, string | undefined])[] {
  return words(text).map((word) => {
    const [, name, value] = /^([^=]+)(?:=(.*))?$/.exec(word) ?? [];
    if (name === undefined) throw new Error(`not an assignment: ${word}`);
    return [name, value] as const;
  });
}

function parseInstruction(line: string): Instruction {
  const [, word, rest = ''] = /^([A-Z]+)\s+(.*)$/s.exec(line) ?? [];
  const name = known.find((name) => name === word);
  if (name === undefined) throw new Error(`unknown instruction: ${line}`);
  const flags: Record<string, string> = {};
  let text = rest;
  for (let match = flag(text); match !== null; match = flag(text)) {
    flags[match[1]!] = match[2]!;
    text = text.slice(match[0].length);
  }
  return { name, flags, text };
}

const flag = (text: string): RegExpExecArray | null => /^--([a-z]+)=(\S+)\s+/.exec(text);

/** Lines without comments; those that end with a backslash are joined. */
function logicalLines(text: string): string[] {
  const lines: string[] = [];
  let open = '';
  for (const line of text.split('\n')) {
    if (/^\s*(#|$)/.test(line)) continue;
    open += line.replace(/\\$/, '\n');
    if (line.endsWith('\\')) continue;
    lines.push(open.replaceAll(/\n\s*/g, ' '));
    open = '';
  }
  return lines;
}
