import type { StoreLoss } from './disk-store.ts';
import type { LevelContent } from './level-content.ts';
import type { Seal } from './level-seal.ts';
import type { MarkerContent } from './store-marker.ts';

/** The loss of an opened database compared with its marker; else one that is not resolved yet. */
export function lossOf(
  { seal, damage }: Pick<LevelContent, 'seal' | 'damage'>,
  marker: MarkerContent | 'unreadable' | undefined,
): StoreLoss | undefined {
  if (damage !== undefined) return { history: 'damaged', detail: damage };
  if (!seal)
    return marker === undefined
      ? { history: 'new', detail: 'there was no database' }
      : { history: 'lost', detail: `the database is empty${writtenText(marker)}` };
  // A database of an earlier release has no identity to compare.
  if (marker === undefined || marker === 'unreadable' || seal.id === '') return seal.loss;
  if (seal.id !== marker.id)
    return { history: 'replaced', detail: `it is database ${seal.id}, expected ${marker.id}` };
  if (seal.sequence < marker.sequence)
    return { history: 'older', detail: behindText(seal.sequence, marker.sequence) };
  return seal.loss;
}

/** The loss of a reopened database, of the batches that were acknowledged in this run. */
export function lossSince(
  acknowledged: Seal,
  { seal, damage }: Pick<LevelContent, 'seal' | 'damage'>,
): StoreLoss {
  if (damage !== undefined) return { history: 'damaged', detail: damage };
  if (!seal)
    return { history: 'lost', detail: `the database is empty${writtenText(acknowledged)}` };
  if (seal.id !== acknowledged.id)
    return {
      history: 'replaced',
      detail: `it is database ${seal.id}, expected ${acknowledged.id}`,
    };
  return { history: 'older', detail: behindText(seal.sequence, acknowledged.sequence) };
}

function writtenText(marker: { readonly sequence: number } | 'unreadable'): string {
  return marker === 'unreadable' ? '' : `, ${marker.sequence} batches had been written`;
}

function behindText(sequence: number, expected: number): string {
  return `it has ${sequence} of ${expected} acknowledged batches`;
}
