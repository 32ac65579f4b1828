/** Measurements in a process of their own, without the heap and the compiled code of another one. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export type Print = (line: string) => void;

/** The flags of the agent in the first line of its main.ts, and one for measurements. */
export const agentFlags = [
  '--max-semi-space-size=8',
  '--invocation-count-for-maglev-osr=2000',
  '--invocation-count-for-turbofan=100000',
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
