import { href, place } from '../../location.ts';
import { searchQuery } from './search-address.ts';
import { ValueKey } from './value-key.tsx';

interface Props {
  readonly valueKey: string;
  /** Shows as much of its end as has room in one line. */
  readonly isShort?: true;
}

/** A key that opens its value; the way back leads to the same list. */
export function ValueLink({ valueKey, isShort }: Props) {
  return (
    <a
      class={isShort && 'short'}
      href={href('values', { ...searchQuery(place.value.query), key: valueKey })}
      title={isShort && valueKey}
    >
      {isShort ? <ValueKey text={valueKey} /> : <code>{valueKey}</code>}
    </a>
  );
}
