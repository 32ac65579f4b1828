/** One line on the standard error that each text replaces, on a terminal only. */
import type { Clock } from '#infra/clock/clock.ts';
import { fittingEnd } from '#infra/text/text-width.ts';
import { safeLine } from './terminal-text.ts';

/** Fast commands show none. */
const DELAY_MS = 400;
const CLEAR = '\r\u001b[K';

export interface Progress {
  show(text: string): void;
  /** Before other output on the terminal. */
  clear(): void;
}

export interface ProgressOptions {
  readonly write: (text: string) => void;
  readonly isTerminal: boolean;
  readonly width: number;
  readonly clock: Clock;
}

export function createProgress({ write, isTerminal, width, clock }: ProgressOptions): Progress {
  if (!isTerminal) return { show: () => undefined, clear: () => undefined };
  let text = '';
  let isShown = false;
  let isScheduled = false;
  const draw = (): void => {
    // A prompt may have the line.
    if (text === '' && !isShown) return;
    isShown = text !== '';
    const line = safeLine(text);
    write(CLEAR + line.slice(0, fittingEnd(line, 0, width - 1)));
  };
  const clear = (): void => {
    if (isShown) write(CLEAR);
    isShown = false;
  };
  return {
    show(next) {
      text = next;
      if (isShown) draw();
      if (isScheduled) return;
      isScheduled = true;
      clock.timer(DELAY_MS, draw);
    },
    clear,
  };
}
