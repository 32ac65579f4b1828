/** The reasons for which addresses from outside are not used, as docs/networking.md shows them. */
import { addressReasons, addressUses } from '#plugins/nodesync/api.ts';
import { type Row, renderTable } from './table.ts';

export function addressReasonTable(old: string): string {
  const rows = Object.entries(addressReasons).map(([key, { phrase, refuses }]): Row => {
    const uses: readonly string[] = refuses;
    const cells = addressUses.map((use) => (uses.includes(use) ? 'refused' : '–'));
    return { key, cells: [`… ${phrase}`, ...cells] };
  });
  return renderTable(['reason', 'in messages', ...addressUses], rows, old);
}
