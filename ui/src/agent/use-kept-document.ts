import { useRef } from 'preact/hooks';
import type { Loaded } from './use-document.ts';

/** Keeps the last document while another one is loading, so that a list does not vanish while a user types. */
export function useKeptDocument<T>(loaded: Loaded<T>): Loaded<T> {
  const kept = useRef<T>(undefined);
  if (loaded.document !== undefined) kept.current = loaded.document;
  else if (!loaded.isLoading) kept.current = undefined;
  return loaded.document === undefined && kept.current !== undefined
    ? { ...loaded, document: kept.current }
    : loaded;
}
