/** A state as a word with a color. The word says it, too. */
import type { Tone } from './tone.ts';

export function Badge({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return <span class={`badge ${tone}`}>{children}</span>;
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
  return <Badge tone={tones[state] ?? 'neutral'}>{state}</Badge>;
}
