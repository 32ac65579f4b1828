/** All ways that a packet can take where NAT balances it over several backends. */
import { type TraceMemory, traceMemory } from './memory.ts';
import type { Packet } from './packet.ts';
import type { Snapshot } from './snapshot.ts';
import { type PacketTrace, tracePacket } from './tracer.ts';

export interface Branch {
  /** Of all connections; the shares of all branches add up to 1. */
  readonly share: number;
  readonly trace: PacketTrace;
  /** After it, for the trace of the reply. */
  readonly memory: TraceMemory;
}

/** @param memory before it; it is not changed */
export function traceBranches(
  snapshot: Snapshot,
  start: string,
  packet: Packet,
  memory?: TraceMemory,
): readonly Branch[] {
  const branches: Branch[] = [];
  const pending: (readonly number[])[] = [[]];
  for (let taken = pending.pop(); taken; taken = pending.pop()) {
    const choices: number[] = [];
    const others: (readonly number[])[] = [];
    let share = 1;
    const after = traceMemory(memory);
    const choose = (weights: readonly number[]): number => {
      const choice = taken[choices.length] ?? 0;
      if (choices.length >= taken.length)
        for (let other = weights.length - 1; other > 0; other--) others.push([...choices, other]);
      share *= (weights[choice] ?? 0) / weights.reduce((sum, weight) => sum + weight, 0);
      choices.push(choice);
      return choice;
    };
    const trace = tracePacket(snapshot, start, packet, { memory: after, choose });
    branches.push({ share, trace, memory: after });
    pending.push(...others);
  }
  return branches;
}
