import type { Flow } from '#documents/flows.ts';

/** Why a connection was refused, or not answered. */
export interface FlowReason {
  readonly verdict: 'denied' | 'no-answer' | 'refused';
  readonly reason: string;
}

/** @returns undefined: it is not known */
export type FindReason = (flow: Flow) => Promise<FlowReason | undefined>;
