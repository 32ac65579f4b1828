/** Tables of addresses and ports, before they are converted to rules of VPP. */
import { AddressSet } from '../address-set.ts';
import { PortSet } from '../port-set.ts';
import { prefixLists } from './prefix-lists.ts';

export interface TableEntry {
  readonly action: 'permit' | 'deny';
  readonly sources: AddressSet;
  readonly destinations: AddressSet;
  /** Of the receiver. */
  readonly ports: PortSet;
}

/** The first entry that matches decides; the last one matches everything. */
export type Table = readonly TableEntry[];

const everything = {
  sources: AddressSet.any,
  destinations: AddressSet.any,
  ports: PortSet.any,
} as const;

export const permitAll: TableEntry = { action: 'permit', ...everything };
export const denyAll: TableEntry = { action: 'deny', ...everything };

/** Without the entries at the end that decide as the last one does. */
export function withoutRedundantEnd(table: readonly TableEntry[]): Table {
  const last = table.at(-1);
  let kept = table.length - 1;
  while (kept > 0 && table[kept - 1]?.action === last?.action) kept--;
  return last === undefined ? [] : [...table.slice(0, kept), last];
}

export function isPermitAll(table: Table): boolean {
  return table.every(({ action }) => action === 'permit');
}

/** Equal for equal tables. */
export function tableText(table: Table): string {
  return table
    .map(({ action, sources, destinations, ports }) =>
      [action, prefixLists(sources).text, prefixLists(destinations).text, ports.text].join(' '),
    )
    .join('\n');
}
