/** Measurements in a process of their own, without the heap and the compiled code of another one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { nodeFlags } from '#test/support/program-command.ts';

export type Print = (line: string) => void;

/** The flags of the agent, and one for measurements. */
export const agentFlags = [
  ...nodeFlags(resolve(import.meta.dirname, '../../src/cmd/agent/main.ts')),
  '--expose-gc',
];

/** Runs one step of a measurement. @param file that runs the step named by its first argument */
export async function runInSubprocess(file: string, step: string, print: Print): Promise<void> {
  const child = spawn(process.execPath, [...agentFlags, file, step], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  for await (const line of createInterface(child.stdout)) print(line);
  const [code] = await closed;
  if (code !== 0) throw new Error(`${step} failed`);
}
