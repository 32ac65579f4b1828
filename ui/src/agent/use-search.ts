/** A text that the server searches for: in the address of the page at once, in requests when typing pauses. */
import { useEffect, useState } from 'preact/hooks';
import { changeQuery, place } from '../location.ts';

const PAUSE_MS = 250;

export interface Search {
  readonly text: string;
  /** For requests. */
  readonly settled: string;
  change(text: string): void;
}

/** @param argument of the address that has the text */
export function useSearch(argument: string): Search {
  const text = place.value.query.get(argument) ?? '';
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return { text, settled, change: (changed) => changeQuery({ [argument]: changed }) };
}
