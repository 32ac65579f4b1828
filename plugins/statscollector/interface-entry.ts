import type { InterfaceCounters } from '#plugins/controller/api/ports/stats.ts';
import type { InterfaceOwner } from './interface-owner.ts';

/** The figures of one interface. */
export interface InterfaceEntry {
  readonly owner: InterfaceOwner;
  /** Logical name. */
  readonly interfaceName: string;
  readonly counters: InterfaceCounters;
}
