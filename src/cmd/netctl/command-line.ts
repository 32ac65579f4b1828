/** The command line of netctl, from the descriptions of its commands. */
import { Argument, Command as CommanderCommand, InvalidArgumentError, Option } from 'commander';
import type { BuildInfo } from '#infra/status/status.ts';
import type { Command, CommandInput, OutputFormat } from '#netctl/command.ts';
import { versionText } from '#netctl/commands/version.ts';
import { globalOptions } from '#netctl/global-options.ts';

export interface GlobalOptions {
  readonly servers: readonly string[];
  readonly etcdConfig: string | undefined;
  readonly kubeconfig: string | undefined;
  /** Of the client of REST. */
  readonly file: string | undefined;
  readonly port: number | undefined;
  readonly https: boolean | undefined;
  readonly insecure: boolean | undefined;
  readonly caFile: string | undefined;
  readonly user: string | undefined;
  readonly token: string | undefined;
  /** Seconds. */
  readonly timeout: number | undefined;
  readonly output: OutputFormat;
  readonly headers: boolean;
}

export interface CommandLine {
  readonly command: Command;
  readonly input: CommandInput;
  readonly global: GlobalOptions;
}

/**
 * @param argv arguments after the program's name
 * @throws CommanderError after its text is printed: for invalid arguments, for --help and --version
 */
export async function parseCommandLine(
  argv: readonly string[],
  commands: readonly Command[],
  build: BuildInfo,
): Promise<CommandLine> {
  const program = new CommanderCommand('netctl')
    .description('Shows and tests the network of a Contiv/VPP cluster.')
    .version(`netctl ${versionText(build)}`, '--version', 'print the release of netctl')
    .configureHelp({ subcommandTerm: termOf })
    .enablePositionalOptions()
    .showHelpAfterError('(--help lists all options)')
    .exitOverride();
  addGlobalOptions(program);
  const { promise, resolve } = Promise.withResolvers<CommandLine>();
  for (const command of commands) {
    const child = program.command(command.name).summary(command.summary);
    child.description(`${command.summary}.`);
    if (command.passesOptionsOn) child.passThroughOptions();
    for (const one of command.arguments) child.addArgument(argumentOf(one));
    for (const one of command.options) child.addOption(optionOf(one));
    addGlobalOptions(child);
    child.addHelpText('after', examplesText(command));
    child.action(() =>
      resolve({
        command,
        input: inputOf(command, child),
        global: globalOptionsOf(program, child),
      }),
    );
  }
  await program.parseAsync([...argv], { from: 'user' });
  return await promise;
}

/** Without `[options]`: all commands have some. */
function termOf(command: CommanderCommand): string {
  const words = command.registeredArguments.map((one) => {
    const name = one.variadic ? `${one.name()}…` : one.name();
    return one.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...words].join(' ');
}

const GLOBAL = 'Options of all commands:';

function addGlobalOptions(command: CommanderCommand): void {
  command.addHelpOption(new Option('-h, --help', 'print this text').helpGroup(GLOBAL));
  for (const one of globalOptions) {
    const { name, short, value, description, choices, largest, isRepeatable } = one;
    const long = value ? `--${name} <${value}>` : `--${name}`;
    const option = new Option(short ? `-${short}, ${long}` : long, description).helpGroup(GLOBAL);
    if (largest !== undefined) option.argParser((text) => number(text, largest));
    if (isRepeatable)
      option.argParser((text, previous: readonly string[] = []) => [...previous, text]);
    command.addOption(choices ? choicesOf(option, choices) : option);
  }
}

/** The description has the list already. */
function choicesOf(option: Option, choices: readonly string[]): Option {
  return option.argParser((text) => {
    if (choices.includes(text)) return text;
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
  });
}

function number(text: string, largest: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= largest) return Number(text);
  throw new InvalidArgumentError(`Not a number from 1 to ${largest}.`);
}

function argumentOf(one: Command['arguments'][number]): Argument {
  const name = one.isVariadic ? `${one.name}...` : one.name;
  return new Argument(one.isOptional ? `[${name}]` : `<${name}>`, one.description);
}

function optionOf(one: Command['options'][number]): Option {
  const { name, short, value, description, choices } = one;
  const long = value ? `--${name} <${value}>` : `--${name}`;
  const option = new Option(short ? `-${short}, ${long}` : long, description);
  return choices ? option.choices(choices) : option;
}

function examplesText({ examples }: Command): string {
  return `\nExamples:\n${examples.map((example) => `  netctl ${example}`).join('\n')}\n`;
}

function inputOf(command: Command, child: CommanderCommand): CommandInput {
  const values = command.arguments.map(({ name }, place) => {
    const value: unknown = child.processedArgs[place];
    return [name, value === undefined ? [] : [value].flat().map(String)] as const;
  });
  const given = child.opts<Record<string, string | true | undefined>>();
  const options = command.options.map(({ name }) => {
    const key = new Option(`--${name}`).attributeName();
    return [name, given[key]] as const;
  });
  return { arguments: Object.fromEntries(values), options: Object.fromEntries(options) };
}

/** Options may be before and after the name of the command. */
function globalOptionsOf(program: CommanderCommand, child: CommanderCommand): GlobalOptions {
  const before = program.opts<GivenOptions>();
  const after = child.opts<GivenOptions>();
  const { httpClientConfig, output = 'table', ...given } = { ...before, ...after };
  return {
    ...given,
    file: httpClientConfig,
    servers: [...(before.server ?? []), ...(after.server ?? [])],
    output,
    headers: before.headers !== false && after.headers !== false,
  };
}

interface GivenOptions extends GlobalOptions {
  readonly server?: readonly string[];
  readonly httpClientConfig: string | undefined;
}
