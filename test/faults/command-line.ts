import type { CommandInput } from '#netctl/command.ts';
import { commands } from '#netctl/commands.ts';

/** From the words after `netctl`: enough for the commands of the page. */
export function commandLine(words: readonly string[]): { name: string; input: CommandInput } {
  const [name = '', ...rest] = words;
  const command = commands.find((one) => one.name === name)!;
  const given: Record<string, string[]> = {};
  const options: Record<string, string | true> = {};
  const places = command.arguments.flatMap(({ name: argument, isVariadic }) =>
    isVariadic ? Array.from({ length: 9 }, () => argument) : [argument],
  );
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at]!;
    const option = command.options.find((one) => word === `--${one.name}`);
    if (option !== undefined)
      options[option.name] = option.value === undefined ? true : rest[++at]!;
    else {
      const argument = places.shift()!;
      given[argument] = [...(given[argument] ?? []), word];
    }
  }
  return { name, input: { arguments: given, options } };
}
