import type { Flow } from '#documents/flows.ts';
import { Badge } from '../../components/badge.tsx';

const texts = {
  open: ['good', 'open'],
  refused: ['waiting', 'refused'],
  'no-answer': ['waiting', 'no answer'],
  denied: ['bad', 'denied'],
} as const;

export function Verdict({ flow: { verdict, ended } }: { readonly flow: Flow }) {
  if (verdict === 'open' && ended !== undefined) return <Badge tone="neutral">closed</Badge>;
  const [tone, text] = texts[verdict];
  return <Badge tone={tone}>{text}</Badge>;
}
