/** Parts of the programs of connections and of datagrams. */
import type { Assembler } from '../bpf/assembler.ts';
import type { AskedServiceMaps } from '../socket-services/installation.ts';
import { type FlowMapName, flowCounters } from './layout.ts';

/** Descriptors of maps. */
export interface FlowMapFiles extends Readonly<Record<FlowMapName, number>> {
  /** undefined: the kernel translates none. */
  readonly services: AskedServiceMaps<number> | undefined;
}

export interface FlowProgramTraits {
  /**
   * Whether programs of this kind can ask for the network namespace: those of connections from Linux 5.15 on, those of packets much
   * later.
   */
  readonly knowsNamespace: boolean;
  /** Whether there is a clock of some milliseconds that costs nothing (Linux 5.11 and later). */
  readonly hasCoarseTime: boolean;
}

/** `bpf_…` functions of the kernel. */
export const helper = {
  lookup: 1,
  update: 2,
  time: 5,
  loadBytes: 26,
  socketCookie: 46,
  setCallbacks: 59,
  socketStorage: 107,
  namespaceCookie: 122,
  output: 130,
  coarseTime: 160,
} as const;

export const CREATE = 1;
/** `::ffff:0:0` as a word at offset 8, in the byte order of the machine. */
export const MAPPED = 0xffff_0000;
/** The agent reads at intervals: it need not be woken. */
const NO_WAKEUP = 1;

export function pass(code: Assembler): void {
  code.label('pass').set('r0', 1).exit();
}

/** Gives the agent bytes of the stack; `r0` is 0, unless there is no space. */
export function output(
  code: Assembler,
  maps: FlowMapFiles,
  { at, length }: { readonly at: number; readonly length: number },
): void {
  code.map('r1', maps.events).set('r2', 'r10').add('r2', at);
  code.set('r3', length).set('r4', NO_WAKEUP).call(helper.output);
}

/** @param at a free word of the stack */
export function countUp(
  code: Assembler,
  maps: FlowMapFiles,
  counter: keyof typeof flowCounters,
  { at, otherwise }: { readonly at: number; readonly otherwise: string },
): void {
  code.store(4, 'r10', at, flowCounters[counter]);
  code.map('r1', maps.counters).set('r2', 'r10').add('r2', at).call(helper.lookup);
  code.jumpIf('r0', 'equal', 0, otherwise).set('r1', 1).addTo('r0', 0, 'r1');
}
