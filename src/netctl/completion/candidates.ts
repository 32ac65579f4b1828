/** The words that may continue a command line. */
import type { Command, CommandArgument, CommandContext, CommandOption } from '../command.ts';
import { type GlobalOption, globalOptions } from '../global-options.ts';

/** A word and its description, or the request that the shell offers files. */
export type Candidates = readonly (readonly [word: string, description: string])[] | 'files';

type AnyOption = CommandOption | GlobalOption;
type Source = CommandArgument['completes'] | GlobalOption['completes'];

/** The part of a context that names come from. */
export type NameSource = Pick<CommandContext, 'nodes' | 'pods' | 'ask'>;

/** Other words of the cluster could be taken for syntax of the shell. */
const PLAIN_WORD = /^[\w.:/@%+=-]+$/;

interface Typed {
  readonly command: Command | undefined;
  /** Arguments of the command. */
  readonly words: readonly string[];
  /** The option whose value is to be completed. */
  readonly pending: AnyOption | undefined;
  /** Values of options before the word, by name. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** @param words after the name of the program; the last one is to be completed */
export async function candidates(
  commands: readonly Command[],
  words: readonly string[],
  source: NameSource,
): Promise<Candidates> {
  const typed = typedWords(commands, words.slice(0, -1));
  const current = words.at(-1) ?? '';
  const found = await offered(commands, typed, current, source);
  if (found === 'files') return found;
  return found.filter(([word]) => word.startsWith(current) && PLAIN_WORD.test(word));
}

async function offered(
  commands: readonly Command[],
  typed: Typed,
  current: string,
  source: NameSource,
): Promise<Candidates> {
  const { command, words, pending } = typed;
  if (pending) return await valuesOf(pending, words, source);
  const isPassedOn = command?.passesOptionsOn && words.length > 0;
  const [, flag = '', name] = (!isPassedOn && /^(--([^=]+)=)/.exec(current)) || [];
  const option = optionsOf(command).find((one) => one.name === name && one.value !== undefined);
  if (option) {
    const values = await valuesOf(option, words, source);
    return values === 'files' ? values : values.map(([word, its]) => [flag + word, its] as const);
  }
  if (current.startsWith('-') && !isPassedOn) return optionsOf(command).flatMap(flagsOf);
  if (!command) return commands.map(({ name, summary }) => [name, summary]);
  const argument = command.arguments[words.length] ?? command.arguments.at(-1);
  if (!argument || (words.length >= command.arguments.length && !argument.isVariadic)) return [];
  const found = await named(argument.completes, words, source);
  return found === 'files' ? found : found.filter(([word]) => !words.includes(word));
}

async function valuesOf(
  { choices, completes }: AnyOption,
  words: readonly string[],
  source: NameSource,
): Promise<Candidates> {
  return choices ? plain(choices) : await named(completes, words, source);
}

function optionsOf(command: Command | undefined): readonly AnyOption[] {
  return [...(command?.options ?? []), ...globalOptions];
}

function flagsOf({ name, short, description }: AnyOption): [string, string][] {
  const flags = short === undefined ? [`--${name}`] : [`-${short}`, `--${name}`];
  return flags.map((flag) => [flag, description]);
}

function plain(words: readonly string[]): Candidates {
  return words.map((word) => [word, '']);
}

async function named(
  from: Source,
  words: readonly string[],
  source: NameSource,
): Promise<Candidates> {
  if (from === undefined) return [];
  if (from === 'files') return from;
  if (from === 'nodes')
    return (await source.nodes()).map(({ name, host = '' }) => [name, host] as const);
  if (from === 'pods')
    return ((await source.pods()) ?? []).map(
      ({ namespace, name, address = '' }) => [`${namespace}/${name}`, address] as const,
    );
  if (from === 'descriptors') {
    const [node] = await source.nodes(words.slice(0, 1));
    if (!node) return [];
    const { DumpIndex } = await import('#documents/scheduler/dump.ts');
    return plain((await source.ask(node, 'scheduler/dump', DumpIndex)).Descriptors);
  }
  return plain(from);
}

/** The complete words of a command line. */
export function typedWords(commands: readonly Command[], given: readonly string[]): Typed {
  let command: Command | undefined;
  let pending: AnyOption | undefined;
  const words: string[] = [];
  const values = new Map<string, readonly string[]>();
  const keep = (option: AnyOption, value: string): void => {
    values.set(option.name, [...(values.get(option.name) ?? []), value]);
  };
  for (const word of given) {
    if (pending) {
      keep(pending, word);
      pending = undefined;
      continue;
    }
    const isPassedOn = command?.passesOptionsOn && words.length > 0;
    const [, name, value] = (!isPassedOn && /^--?([^=]+)(?:=(.*))?$/s.exec(word)) || [];
    const option = optionsOf(command).find(
      (one) => one.name === name || ('short' in one && one.short === name),
    );
    if (option) {
      if (value !== undefined) keep(option, value);
      else if (option.value !== undefined) pending = option;
      else keep(option, '');
    } else if (name !== undefined) continue;
    else if (command) words.push(word);
    else command = commands.find((one) => one.name === word);
  }
  return { command, words, pending, values };
}
