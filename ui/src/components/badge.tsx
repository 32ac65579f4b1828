/** A state as a word with a color. The word says it, too. */
import type { Tone } from './tone.ts';
import { stateMeaning, stateWord } from './value-state.ts';

interface BadgeProps {
  readonly tone: Tone;
  /** Shown with the mouse. */
  readonly title?: string | undefined;
  readonly children: string;
}

export function Badge({ tone, title, children }: BadgeProps) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}

const tones: Readonly<Record<string, Tone>> = {
  CONFIGURED: 'good',
  OBTAINED: 'good',
  DISCOVERED: 'neutral',
  PENDING: 'waiting',
  RETRYING: 'bad',
  FAILED: 'bad',
  INVALID: 'bad',
  MISSING: 'bad',
  UNIMPLEMENTED: 'bad',
  REMOVED: 'neutral',
  NONEXISTENT: 'neutral',
};

/** State of a value of the scheduler. */
export function ValueStateBadge({ state }: { readonly state: string }) {
  return (
    <Badge tone={tones[state] ?? 'neutral'} title={stateMeaning(state)}>
      {stateWord(state)}
    </Badge>
  );
}
