import { createInterface } from 'node:readline/promises';
import type { ReadStream, WriteStream } from 'node:tty';

/** @returns undefined when there is no terminal @throws the reason of the signal */
export async function confirm(
  question: string,
  input: ReadStream,
  output: WriteStream,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  if (!input.isTTY || !output.isTTY) return undefined;
  const lines = createInterface({ input, output });
  try {
    const answer = await lines.question(`${question} [y/N] `, { signal });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
