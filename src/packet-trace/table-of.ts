import type { Interface } from './snapshot.ts';

/** The routing table of an interface for packets to or from an address. */
export function tableOf(
  { table, table6 = table }: Pick<Interface, 'table' | 'table6'>,
  address: string,
): number {
  return address.includes(':') ? table6 : table;
}
