import type { Links } from '../agent.ts';
import type { ManualChangeTestbed } from './testbed.ts';

/** A change past the agent. */
export interface ManualChange {
  readonly title: string;
  /** Absent: of both kinds. */
  readonly links?: Links;
  /** The packet trace follows neither bridge domains past the agent nor cross-connects. */
  readonly isUntraced?: true;
  readonly make: (testbed: ManualChangeTestbed) => Promise<void>;
  /** Of an unmanaged object, which the agent leaves alone: packets do not work until it is undone. */
  readonly undo?: (testbed: ManualChangeTestbed) => Promise<void>;
}
