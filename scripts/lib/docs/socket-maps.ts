import { shapes } from '#linux/socket-services/layout.ts';
import { type Row, renderTable } from './table.ts';

/** Maps of the kernel for services at sockets. */
export function socketMapTable(old: string): string {
  const rows = Object.entries(shapes).map(
    ([name, { maxEntries }]): Row => ({
      key: `\`${name}\``,
      cells: [maxEntries === 0 ? '–' : String(maxEntries), { suggestion: '' }, { suggestion: '' }],
    }),
  );
  return renderTable(['map', 'capacity', 'an entry for each', 'when it is full'], rows, old);
}
