/** `GET /trace/node` of an agent: the state of a node that a trace needs. */
import type { ActualState } from './actual-state.ts';
import type { NodeIsolation } from './isolation.ts';
import type { NodeValues } from './node.ts';

export interface NodeSnapshot {
  readonly name: string;
  /** Addresses of the host, without prefix length, that the agent has not configured. */
  readonly hostAddresses: readonly string[];
  /** `<namespace>/<name>` to address without prefix length. */
  readonly pods: Readonly<Record<string, string>>;
  /** Configured values by key. */
  readonly values: Readonly<Record<string, object>>;
  /** Absent: an agent of an earlier version. */
  readonly isolation?: NodeIsolation;
  /** Only in the view SB: the state of VPP and the kernel, managed or not. */
  readonly actual?: ActualState;
}

export function isNodeSnapshot(value: unknown): value is NodeSnapshot {
  if (typeof value !== 'object' || value === null) return false;
  const { name, hostAddresses, pods, values } = value as Partial<Record<string, unknown>>;
  const areObjects = [pods, values].every((one) => typeof one === 'object' && one !== null);
  return typeof name === 'string' && Array.isArray(hostAddresses) && areObjects;
}

export function nodeValues({ values, ...node }: NodeSnapshot): NodeValues {
  return { ...node, values: Object.entries(values) };
}
