/** Wires a command of netctl and runs it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { homedir, networkInterfaces } from 'node:os';
import { extname, join } from 'node:path';
import { CommanderError } from 'commander';
import { systemClock } from '#infra/clock/system.ts';
import { CodedError, errorText } from '#infra/errors/errors.ts';
import { buildInfo } from '#infra/process/build-info.ts';
import { userAgents } from '#infra/process/user-folder.ts';
import { type CommandContext, ExitCode } from '#netctl/command.ts';
import { commands } from '#netctl/commands.ts';
import { createContext } from '#netctl/context.ts';
import { findSource } from '#netctl/nodes/find-source.ts';
import { NodeDirectory, type OwnAgent } from '#netctl/nodes/node-directory.ts';
import { createOutput } from '#netctl/output/output.ts';
import { askPassword } from '#netctl/output/password-prompt.ts';
import { createProgress } from '#netctl/output/progress.ts';
import { foldedLines } from '#netctl/output/table-text.ts';
import { safeLine } from '#netctl/output/terminal-text.ts';
import { Credentials } from '#netctl/requests/credentials.ts';
import { httpOptions } from '#netctl/requests/http-options.ts';
import { NodeClient } from '#netctl/requests/node-client.ts';
import { RequestError } from '#netctl/requests/request-failure.ts';
import { type GlobalOptions, parseCommandLine } from './command-line.ts';

/** As `local-socket` of http.conf. */
const LOCAL_SOCKET = '/var/run/contiv/agent.sock';
const DEFAULT_TIMEOUT_S = 10;
/** A person waits between two keys. */
const COMPLETION_TIMEOUT_S = 5;
/** For a terminal that does not tell its width. */
const DEFAULT_WIDTH = 80;

type Variables = Readonly<Record<string, string | undefined>>;

/** @returns the exit code; errors are printed on the standard error */
export async function runNetctl(argv: readonly string[], env: Variables): Promise<number> {
  const aborter = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => aborter.abort(new Error(`ended by ${signal}`)));
  process.stdout.on('error', endWithoutOutput);
  // Without a place for warnings the result still matters.
  process.stderr.on('error', () => undefined);
  try {
    return await run(argv, env, aborter.signal);
  } catch (thrown) {
    // Its text is printed already; --help has exit code 0.
    if (thrown instanceof CommanderError)
      return thrown.exitCode === 0 ? ExitCode.Success : ExitCode.Failure;
    if (!aborter.signal.aborted) printError(thrown);
    return ExitCode.Failure;
  }
}

function endWithoutOutput(error: NodeJS.ErrnoException): void {
  // The reader of the output has enough, such as head.
  if (error.code === 'EPIPE') process.exit(ExitCode.Success);
  printLine(`netctl: the output cannot be written: ${errorText(error)}`);
  process.exit(ExitCode.Failure);
}

function printError(thrown: unknown): void {
  printLine(`netctl: ${errorText(thrown)}`);
  if (thrown instanceof RequestError) printLine(`${thrown.code}: ${thrown.failure.remedy}`);
  else if (thrown instanceof CodedError) printLine(`${thrown.code}: ${thrown.remedy}`);
  else if (thrown instanceof Error) process.stderr.write(`${thrown.stack}\n`);
}

/** On the standard error, folded into the width of a terminal; lines keep their indentation. */
function printLine(text: string): void {
  const { isTTY, columns } = process.stderr;
  const width = isTTY ? columns || DEFAULT_WIDTH : Infinity;
  for (const line of foldedLines(safeLine(text), width)) process.stderr.write(`${line}\n`);
}

async function run(
  argv: readonly string[],
  env: Variables,
  signal: AbortSignal,
): Promise<ExitCode> {
  const [first, ...words] = argv;
  if (first === '__complete') return await complete(words, env, signal);
  if (first === '__probe') {
    const { runProber } = await import('#netctl/end-to-end/prober.ts');
    await runProber(words, systemClock, signal);
    return ExitCode.Success;
  }
  const { command, input, global } = await parseCommandLine(argv, commands, buildInfo(env));
  const { context, close } = await contextOf(global, env, signal, true);
  try {
    return await command.run(context, input);
  } finally {
    await close();
  }
}

/** For the scripts of `netctl completion`. A shell must not show errors between the words. */
async function complete(
  words: readonly string[],
  env: Variables,
  signal: AbortSignal,
): Promise<ExitCode> {
  const { candidates, typedWords } = await import('#netctl/completion/candidates.ts');
  const { values } = typedWords(commands, words.slice(0, -1));
  const options = [...values].flatMap(([name, its]) => its.map((value) => [`--${name}`, value]));
  const given = options.flat().filter((word) => word !== '');
  const { global } = await parseCommandLine(['nodes', ...given], commands, buildInfo(env));
  const limits = { ...global, timeout: COMPLETION_TIMEOUT_S };
  const { context, close } = await contextOf(limits, env, signal, false);
  try {
    const found = await candidates(commands, words, context);
    const lines = found === 'files' ? [':files'] : found.map((one) => one.map(safeLine).join('\t'));
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    return ExitCode.Success;
  } finally {
    await close();
  }
}

/** @param canAsk whether a person waits for a question, such as that for the password */
async function contextOf(
  global: GlobalOptions,
  env: Variables,
  signal: AbortSignal,
  canAsk: boolean,
): Promise<{ context: CommandContext; close: () => Promise<void> }> {
  const { stdout, stderr, stdin } = process;
  const timeoutMs = (global.timeout ?? DEFAULT_TIMEOUT_S) * 1000;
  const progress = createProgress({
    write: (text) => stderr.write(text),
    isTerminal: stderr.isTTY === true,
    width: stderr.columns || DEFAULT_WIDTH,
    clock: systemClock,
  });
  const warn = (text: string): void => {
    progress.clear();
    printLine(text);
  };
  const http = await httpOptions(global, env, async () => (await import('yaml')).parse);
  const directory = new NodeDirectory(
    () =>
      findSource({
        ...global,
        env,
        home: homedir(),
        localSocket: LOCAL_SOCKET,
        userAgents,
        timeoutMs,
        warn,
        clock: systemClock,
        signal,
      }),
    ownAgent(),
    async (node) => (await import('#netctl/nodes/node-name.ts')).nodeNameOf(client, node),
  );
  let isAsking = false;
  const credentials = new Credentials({
    ...http,
    askPassword: async (user) => {
      if (!canAsk) return undefined;
      const write = (text: string): void => void stderr.write(text);
      const interrupt = (): void => void process.emit('SIGINT');
      isAsking = true;
      progress.show('');
      try {
        return await askPassword(user, { input: stdin, write, interrupt, signal });
      } finally {
        isAsking = false;
      }
    },
  });
  const client = new NodeClient({ ...http, credentials, timeoutMs, clock: systemClock, signal });
  const context = createContext({
    directory,
    client,
    etcd: async () => {
      const file = global.etcdConfig || env['ETCD_CONFIG'] || undefined;
      if (file === undefined && !env['ETCD_ENDPOINTS']) return undefined;
      const { probeEtcd } = await import('#netctl/nodes/etcd-source.ts');
      return await probeEtcd({ file, env, clock: systemClock });
    },
    machine: {
      confirm: async (question) => {
        if (!canAsk) return undefined;
        const { confirm } = await import('#netctl/output/confirm.ts');
        progress.clear();
        return await confirm(question, stdin, stderr, signal);
      },
      runAgent,
      localSocket: LOCAL_SOCKET,
    },
    output: createOutput({
      format: global.output,
      write: (text) => {
        progress.clear();
        stdout.write(text);
      },
      writeBytes: (bytes) => stdout.write(bytes),
      warn,
      yamlText: global.output === 'yaml' ? (await import('yaml')).stringify : undefined,
      isWide: global.output === 'wide',
      hasHeaders: global.headers,
      width: stdout.isTTY ? stdout.columns || DEFAULT_WIDTH : undefined,
      hasColors: stdout.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb',
    }),
    progress: (text) => {
      // The question has the line.
      if (!isAsking) progress.show(text);
    },
    warn,
    clock: systemClock,
    build: buildInfo(env),
    signal,
  });
  return { context, close: () => directory.close() };
}

/** It is beside this program, in the images and in a clone. */
async function runAgent(args: readonly string[]): Promise<number> {
  const main = join(import.meta.dirname, '../agent', `main${extname(import.meta.filename)}`);
  const child = spawn(process.execPath, [main, ...args], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? ExitCode.Failure;
}

/** The agent of this machine, if this user may open its socket. */
function ownAgent(): OwnAgent | undefined {
  try {
    accessSync(LOCAL_SOCKET, constants.R_OK | constants.W_OK);
  } catch {
    return undefined;
  }
  const addresses = Object.values(networkInterfaces()).flatMap((its) => its ?? []);
  return { socket: LOCAL_SOCKET, addresses: addresses.map(({ address }) => address) };
}
