import type { InterfaceSample } from './api.ts';
import type { InterfaceOwner } from './interface-owner.ts';

/** The figures of one interface. */
export interface InterfaceEntry extends InterfaceSample {
  readonly owner: InterfaceOwner;
}
