import { components } from '#netctl/status/components.ts';
import { type Row, renderTable } from './table.ts';

/** Components of the agent. */
export function componentTable(old: string): string {
  const rows = Object.entries(components).map(
    ([name, { fails, remedy }]): Row => ({
      key: `\`${name}\``,
      cells: [{ suggestion: '' }, fails, remedy],
    }),
  );
  return renderTable(['component', 'what it reports', 'error fails', 'what to do'], rows, old);
}
