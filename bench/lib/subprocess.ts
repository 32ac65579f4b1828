/** Measurements that each get a process of their own: no heap, no compiled code of another. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export type Print = (line: string) => void;

/** As package.json and the image start the agent: small young generations keep collections short. */
const flags = ['--max-semi-space-size=8', '--expose-gc'];

/** Runs a part of a measurement in a process of its own. @param file that calls `runAsPart` */
export async function runInSubprocess(file: string, part: string, print: Print): Promise<void> {
  const child = spawn(process.execPath, [...flags, file, part], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  for await (const line of createInterface(child.stdout)) print(line);
  const [code] = await closed;
  if (code !== 0) throw new Error(`${part} has failed`);
}
