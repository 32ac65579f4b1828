/** The search of the header, which the key `/` enters: `#/search?for=words`. */
import { useEffect, useRef } from 'preact/hooks';
import { changeQuery, href, place } from './location.ts';

const SEARCH = 'search';

export function SearchField() {
  const field = useRef<HTMLInputElement>(null);
  const { view, query } = place.value;
  const isOpen = view === SEARCH;
  useEffect(() => {
    const enter = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      // or the browser would search in the text of the page
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    addEventListener('keydown', enter);
    return () => removeEventListener('keydown', enter);
  }, []);
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const words = field.current?.value.trim() ?? '';
          if (words !== '') location.hash = href(SEARCH, { for: words });
        }}
      >
        <input
          ref={field}
          type="search"
          aria-label="Find pods, services, policies, nodes, values and events"
          aria-keyshortcuts="/"
          placeholder="Find ( / )"
          value={isOpen ? (query.get('for') ?? '') : ''}
          onInput={({ currentTarget: { value } }) => {
            if (isOpen) changeQuery({ for: value });
          }}
        />
      </form>
    </search>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, select, textarea');
}
