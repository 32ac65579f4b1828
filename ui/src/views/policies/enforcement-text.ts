import type { EnforcementDocument } from '#documents/enforcement.ts';
import type { Tone } from '../../components/tone.ts';

export interface EnforcementText {
  readonly tone: Tone;
  readonly word: string;
  readonly text: string;
}

export function enforcementText({
  state,
  problem,
  policies,
}: EnforcementDocument): EnforcementText {
  if (state === 'failed')
    return { tone: 'bad', word: 'unknown', text: `Maybe none is enforced: ${problem}.` };
  if (state === 'changing')
    return {
      tone: 'waiting',
      word: 'changing',
      text: 'Not known now: the node is being configured.',
    };
  if (policies.length === 0)
    return {
      tone: 'good',
      word: 'enforced',
      text: 'This node enforces each ClusterNetworkPolicy as it is defined.',
    };
  // all but these values deny more, not less
  const isOpen = policies.some(({ code }) => code === 'NotConfigured');
  const are = policies.length === 1 ? '1 policy is' : `${policies.length} policies are`;
  const what = isOpen ? '' : ' They deny more, not less.';
  return {
    tone: isOpen ? 'bad' : 'waiting',
    word: 'not enforced',
    text: `${are} not enforced as defined; all others are.${what}`,
  };
}
