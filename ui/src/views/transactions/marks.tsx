import { Badge } from '../../components/badge.tsx';
import type { Mark } from './transaction-text.ts';

export function Marks({ marks }: { readonly marks: readonly Mark[] }) {
  return (
    <>
      {marks.map(({ tone, text }) => (
        <span key={text}>
          <Badge tone={tone}>{text}</Badge>{' '}
        </span>
      ))}
    </>
  );
}
