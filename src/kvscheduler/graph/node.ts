/** One value in the graph: its desired and its actual state, and its relations. */

import type { AnyDescriptor, Dependency } from '../api/descriptor.ts';
import type { RetryPolicy, Value } from '../api/transaction.ts';
import type { Operation, ValueState } from '../api/value-state.ts';

const none: readonly never[] = [];
const noNodes: ReadonlySet<Node> = new Set();

/** A value that the northbound set and that its descriptor rejected. */
export interface RejectedValue {
  readonly value: Value;
  readonly error: Error;
}

/** Only `GraphWriter` changes it, through `writable`. */
export class Node {
  readonly key: string;
  readonly descriptor: AnyDescriptor | undefined;
  /** The value that this one is derived from. */
  readonly base: Node | undefined;
  /**
   * The desired value; undefined for an unmanaged value, and for one that is to be removed. While a
   * new one is rejected: the last valid one, if there is one.
   */
  readonly desired: Value | undefined;
  /** The actual value; the same object as `desired` exactly when it is in the desired state. */
  readonly actual: Value | undefined;
  readonly metadata: unknown;
  readonly state: ValueState = 'NONEXISTENT';
  readonly lastOperation: Operation | undefined;
  /** The last transaction that changed the value, or found it to differ from what was known. */
  readonly lastTxn: number = -1;
  /** The last transaction that may have changed it. */
  readonly touchedBy: number = -1;
  readonly error: Error | undefined;
  /** Its last operation may or may not have taken place: it has to be read back first. */
  readonly outcomeUnknown: boolean = false;
  /** The last plan removes it, even if the removal failed. */
  readonly toBeRemoved: boolean = false;
  /** Key of a dependency that was lost while this value stayed: it is to be recreated, even if that failed. */
  readonly lostDependency: string | undefined;
  /** Why the object does not work: it is to be recreated, even if that failed. */
  readonly broken: string | undefined;
  /** The value that the northbound set last, if it was rejected. */
  readonly rejected: RejectedValue | undefined;
  /** The descriptor was not asked about the desired value yet. */
  readonly needsInspection: boolean = false;
  readonly desiredDependencies: readonly Dependency[] = none;
  readonly actualDependencies: readonly Dependency[] = none;
  /** Of a base value that is not available: dependencies of the values that would be derived from it. */
  readonly derivedDependencies: readonly Dependency[] = none;
  readonly derived: ReadonlySet<Node> = noNodes;
  /** Claims that a pending value waits for. */
  readonly awaitedClaims: readonly string[] = none;
  /** Claims of the actual value. */
  readonly claims: readonly string[] = none;
  /** Of a base value: the last transaction that set it, and its retry policy. */
  readonly seqNum: number = -1;
  readonly retry: RetryPolicy | undefined;
  /** The dependencies by which the graph's index has this node. */
  readonly indexed: readonly Dependency[] = none;

  constructor(key: string, descriptor: AnyDescriptor | undefined, base: Node | undefined) {
    this.key = key;
    this.descriptor = descriptor;
    this.base = base;
  }

  /** Created by another component: this agent never creates, changes or deletes it. */
  get unmanaged(): boolean {
    return this.state === 'OBTAINED';
  }

  /** It exists and is to stay: dependencies on it are met. */
  get available(): boolean {
    if (this.actual === undefined || this.outcomeUnknown || this.toBeRemoved) return false;
    return this.desired !== undefined || this.unmanaged;
  }

  /** It exists, but not as the last plan wanted: a failure was in the way. */
  get outOfSync(): boolean {
    if (this.actual === undefined || this.unmanaged) return false;
    return this.actual !== this.desired || this.toBeRemoved || this.isFaulty;
  }

  /** It cannot stay as it is although its value is the desired one. */
  get isFaulty(): boolean {
    return this.lostDependency !== undefined || this.broken !== undefined;
  }

  get root(): Node {
    let node: Node = this;
    while (node.base) node = node.base;
    return node;
  }
}

type WritableNode = { -readonly [K in keyof Node]: Node[K] };

/** The node to be changed: for `GraphWriter` and the graph itself. */
export function writable(node: Node): WritableNode {
  return node;
}

/** Nothing of it is known to exist or to be valid. */
export function isUnknown({ state, desired, actual, rejected }: Node): boolean {
  if (state === 'NONEXISTENT') return true;
  return rejected !== undefined && (desired ?? actual) === undefined;
}

/** Names of the resources that the value occupies. */
export function claimsOf(
  { key, descriptor }: { readonly key: string; readonly descriptor: AnyDescriptor | undefined },
  value: Value | undefined,
): readonly string[] {
  if (value === undefined || !descriptor?.claims) return none;
  try {
    return descriptor.claims(key, value);
  } catch {
    return none;
  }
}
