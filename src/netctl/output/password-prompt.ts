/** Asks for a password on a terminal, without showing it. */
import type { ReadStream } from 'node:tty';
import { safeLine } from './terminal-text.ts';

/** With Ctrl-D. */
const ENTER = '\r\n\u0004';
const INTERRUPT = '\u0003';
const BACKSPACE = '\u007f\b';

export interface PasswordTerminal {
  readonly input: ReadStream;
  readonly write: (text: string) => void;
  /** For Ctrl-C, which is no signal while the terminal shows no keys. It aborts `signal`. */
  readonly interrupt: () => void;
  readonly signal: AbortSignal;
}

/** @returns undefined when there is no terminal @throws the reason of the signal */
export async function askPassword(
  user: string,
  { input, write, interrupt, signal }: PasswordTerminal,
): Promise<string | undefined> {
  if (!input.isTTY) return undefined;
  write(`Password of ${safeLine(user)}: `);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let password = '';
  const onData = (text: string): void => {
    for (const character of text) {
      if (character === INTERRUPT) interrupt();
      else if (ENTER.includes(character)) resolve(password);
      else if (BACKSPACE.includes(character)) password = [...password].slice(0, -1).join('');
      else password += character;
    }
  };
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  input.setRawMode(true).setEncoding('utf8').on('data', onData);
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
    input.off('data', onData).setRawMode(false).pause();
    write('\n');
  }
}
