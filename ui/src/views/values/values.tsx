/** The values of the scheduler: a search over all of them, or one with everything around it. */
import { useEffect, useRef } from 'preact/hooks';
import { place } from '../../location.ts';
import { ValueList } from './value-list.tsx';
import { ValuePanel } from './value-panel.tsx';

export function Values() {
  const key = place.value.query.get('key') ?? '';
  const isOpen = useRef(false);
  useEffect(() => {
    isOpen.current = true;
  }, []);
  if (key === '') return <ValueList />;
  // With a link from elsewhere the heading of the view has the focus.
  return <ValuePanel key={key} valueKey={key} takesFocus={isOpen.current} />;
}
