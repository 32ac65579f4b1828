import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { programFile } from '#test/support/program-command.ts';

export const agentFile = programFile('agent');

export interface AgentProgram {
  /** Resolves when the text was written. */
  said(text: string): Promise<void>;
  /** Everything that was written so far. */
  text(): string;
  readonly pid: number | undefined;
  signal(name: NodeJS.Signals): void;
  /** Closes the pipe, so that the output has no reader. */
  deafen(): void;
  readonly ended: Promise<{ code: number | null; signal: string | null; text: string }>;
}

/** The agent as a separate process, with its own folder for files and sockets. */
export function runAgentProgram(
  folder: string,
  ...args: (string | { readonly stdout: string })[]
): AgentProgram {
  // debug: the tests of the output need much of it
  const env = { ...process.env, TMPDIR: folder, INITIAL_LOGLVL: 'debug' };
  const argv = args.filter((one) => typeof one === 'string');
  const files = args.filter((one) => typeof one !== 'string');
  const stdout = files[0] ? openSync(files[0].stdout, 'a') : 'pipe';
  const child = spawn(process.execPath, [agentFile, ...argv], {
    env,
    cwd: folder,
    stdio: ['pipe', stdout, 'pipe'],
  });
  if (typeof stdout === 'number') closeSync(stdout);
  let text = '';
  const { promise, resolve: end } = Promise.withResolvers<Awaited<AgentProgram['ended']>>();
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  for (const stream of streams)
    stream.on('data', (chunk) => {
      text += chunk;
    });
  child.on('close', (code, signal) => end({ code, signal, text }));
  return {
    async said(wanted) {
      while (!text.includes(wanted)) {
        const heard = new AbortController();
        const data = streams.map((stream) => once(stream, 'data', { signal: heard.signal }));
        const closed = promise.then(() => assert.fail(`never said "${wanted}":\n${text}`));
        await Promise.race([...data, closed]).finally(() => heard.abort());
      }
    },
    text: () => text,
    pid: child.pid,
    signal: (name) => child.kill(name),
    deafen: () => child.stdout?.destroy(),
    ended: promise,
  };
}
