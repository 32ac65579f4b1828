/** Rows are sources, columns are destinations. One cell is in the order of the tab key; arrow keys move from it. */

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { ConnectivityDocument, Endpoint } from '#documents/connectivity.ts';
import { href, place } from '../../location.ts';
import { endName } from './end-name.ts';
import { type Cell, cellAfterKey, firstCell, type Grid } from './matrix-keys.ts';
import { shortPorts } from './port-list.ts';

export function Matrix({ document }: { readonly document: ConnectivityDocument }) {
  const { sources, destinations, connections, endpoints } = document;
  const chosen = useSignal<Cell | undefined>(undefined);
  const table = useRef<HTMLTableElement>(null);
  if (sources.length === 0 || destinations.length === 0)
    return <p>No pod and no workload with an address is selected.</p>;
  const byName = new Map(endpoints.map((one) => [one.name, one]));
  const ports = new Map(connections.map((one) => [`${one.from}\n${one.to}`, one.ports]));
  const isPod = (name: string | undefined) => byName.get(name ?? '')?.pods !== undefined;
  const grid: Grid = {
    rows: sources.length,
    columns: destinations.length,
    has: ({ row, column }) => isPod(sources[row]) || isPod(destinations[column]),
  };
  // A filter may have made the matrix smaller.
  const isThere = ({ row, column }: Cell) => row < grid.rows && column < grid.columns;
  const current =
    chosen.value && isThere(chosen.value) && grid.has(chosen.value)
      ? chosen.value
      : firstCell(grid);
  const onKeyDown = (event: KeyboardEvent, from: Cell) => {
    const next = cellAfterKey(from, event, grid);
    if (next === undefined) return;
    event.preventDefault();
    table.current?.tBodies[0]?.rows[next.row]?.cells[next.column + 1]?.querySelector('a')?.focus();
  };
  return (
    <section class="matrix scroll" aria-label="Matrix of connections">
      <table ref={table}>
        <caption>
          From the row to the column. Arrow keys move between cells, Enter explains one.
        </caption>
        <thead>
          <tr>
            <td class="corner">from \ to</td>
            {destinations.map((name) => (
              <th key={name} scope="col" title={name}>
                <span class="vertical">
                  <EndLabel name={name} />
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sources.map((from, row) => (
            <tr key={from}>
              <th scope="row" title={from}>
                <EndLabel name={from} />
              </th>
              {destinations.map((to, column) => (
                <td key={to}>
                  <CellLink
                    from={byName.get(from)}
                    to={byName.get(to)}
                    ports={ports.get(`${from}\n${to}`)}
                    isCurrent={row === current?.row && column === current.column}
                    onFocus={() => {
                      chosen.value = { row, column };
                    }}
                    onKeyDown={(event) => onKeyDown(event, { row, column })}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function EndLabel({ name: text }: { readonly name: string }) {
  const { namespace, name, kind } = endName(text);
  return (
    <span class="end">
      {name}
      <small>{namespace === '' ? kind : `${namespace} · ${kind}`}</small>
    </span>
  );
}

interface CellProps {
  readonly from: Endpoint | undefined;
  readonly to: Endpoint | undefined;
  readonly ports: string | undefined;
  readonly isCurrent: boolean;
  onFocus(): void;
  onKeyDown(event: KeyboardEvent): void;
}

/** Empty where both ends are outside of the cluster. */
function CellLink({ from, to, ports, isCurrent, onFocus, onKeyDown }: CellProps) {
  if (from === undefined || to === undefined) return null;
  if (from.pods === undefined && to.pods === undefined) return null;
  const isItself = from.name === to.name && from.pods?.length === 1;
  const short = isItself ? 'itself' : shortPorts(ports);
  const { query } = place.value;
  const pair = { from: oneOf(from, 0), to: oneOf(to, from.name === to.name ? 1 : 0) };
  const isShown = query.get('from') === pair.from && query.get('to') === pair.to;
  const kind = isItself ? 'itself' : ports === undefined ? 'denied' : 'permitted';
  return (
    <a
      class={kind}
      tabIndex={isCurrent ? 0 : -1}
      onFocus={onFocus}
      onKeyDown={onKeyDown}
      aria-current={isShown ? 'true' : undefined}
      aria-label={`${from.name} to ${to.name}: ${short === '–' ? 'denied' : short}`}
      href={href('connectivity', { ...Object.fromEntries(query), ...pair, port: undefined })}
    >
      {short}
    </a>
  );
}

/** Policies treat the pods of an endpoint alike, so any of them stands for all. */
function oneOf({ name, pods, address }: Endpoint, position: number): string {
  return pods?.[position] ?? pods?.[0] ?? address ?? name;
}
