import type { AnyDescriptor, Dependency } from '../api/descriptor.ts';
import type { Value } from '../api/transaction.ts';
import { deepEqual } from '../graph/equality.ts';
import { claimsOf, type Node, type RejectedValue } from '../graph/node.ts';
import type { Reason } from './reason.ts';

const none: readonly never[] = [];

/** The value that is to exist under a key, and what its descriptor says about it. */
export interface Goal {
  /** The desired value that the graph will record. */
  readonly desired: Value | undefined;
  /** The value that will exist if its dependencies allow; undefined: none. */
  readonly value: Value | undefined;
  /** It is reported by the southbound: no descriptor is called. */
  readonly unmanaged: boolean;
  /** Metadata of a notification. */
  readonly metadata: unknown;
  /** Dependencies of `value`. */
  readonly dependencies: readonly Dependency[];
  /** The value that should exist, if it is invalid; `value` is then the last valid one. */
  readonly rejected: RejectedValue | undefined;
  /** Claims of `value`; undefined: not known yet. */
  readonly claims: readonly string[] | undefined;
}

/** Why all operations on a value are blocked. */
export type BlockReason =
  /** An operation on it failed in this transaction. */
  | 'failed'
  /** An operation on it failed earlier, and its retry is not due. */
  | 'retry not due'
  /** Its last operation may or may not have taken place. */
  | 'unknown outcome'
  /** A blocked value depends on it or is derived from it. */
  | 'needed by a blocked value';

/** Whether a value is available when the plan has been executed, or why it is blocked. */
export type Phase =
  | { readonly state: 'available'; readonly available: true }
  | { readonly state: 'unavailable'; readonly available: false }
  /** It stays as it is. `available`: dependents may rely on it. */
  | { readonly state: 'blocked'; readonly reason: BlockReason; readonly available: boolean }
  /** It cannot exist: the value `by` has the claim. */
  | {
      readonly state: 'blocked';
      readonly reason: 'claim taken';
      readonly claim: string;
      readonly by: string;
      readonly available: false;
    };

export const AVAILABLE: Phase = { state: 'available', available: true };
export const UNAVAILABLE: Phase = { state: 'unavailable', available: false };

/** The part that a value has in the plan. */
export type Role =
  /** The transaction sets it. */
  | 'target'
  /** It is compared with its desired state. */
  | 'reconciled'
  /** It is reached through its relations to others. */
  | 'related';

/** The operations that a value gets. */
export type Decision =
  | { readonly action: 'undecided' }
  /** It stays as it is, because operations on it are blocked. */
  | { readonly action: 'blocked' }
  /** It does not exist and is not created. */
  | { readonly action: 'none' }
  | { readonly action: 'keep' }
  /** Its update is blocked until a derived value that failed is repaired. */
  | { readonly action: 'postpone' }
  | { readonly action: 'create' }
  | { readonly action: 'update' }
  | { readonly action: 'delete' }
  | Recreation;

export interface Recreation {
  readonly action: 'recreate';
  /** The change is more than an update can do. */
  readonly isChange: boolean;
  /** The reason why it cannot stay in between, although it will exist again. */
  readonly interruption: Reason | undefined;
  /** Key of a dependency that the southbound lost while the value stayed. */
  readonly lost?: string | undefined;
}

const UNDECIDED: Decision = { action: 'undecided' };

/**
 * One value in a plan. The resolver sets its goal, phase, role and reason, through `editable`; then
 * `decisions.ts` sets its decision. All other steps only read it.
 */
export class PlannedValue {
  /** Position among the values of the plan: later steps keep their tables by it. */
  readonly index: number;
  readonly key: string;
  /** Undefined for a value that is not in the graph yet. */
  readonly node: Node | undefined;
  readonly descriptor: AnyDescriptor | undefined;
  /** Key of the value that this one is derived from. */
  readonly baseKey: string | undefined;
  /** It exists when the plan begins. */
  readonly exists: boolean;
  readonly goal: Goal;
  readonly phase: Phase;
  /** If it is not available: dependencies of the values that would be derived from it. */
  readonly derivedDependencies: readonly Dependency[];
  readonly role: Role = 'related';
  /** The reason of its operations. */
  readonly reason: Reason;
  readonly decision: Decision = UNDECIDED;
  /** Claims of a goal, computed when they are first needed. */
  #claims: readonly string[] = none;
  #claimsOf: Goal | undefined;

  constructor(
    index: number,
    subject: Pick<Node, 'key' | 'descriptor'>,
    node: Node | undefined,
    baseKey: string | undefined,
    blocked: BlockReason | undefined,
    reason: Reason,
  ) {
    this.index = index;
    this.key = subject.key;
    this.descriptor = subject.descriptor;
    this.node = node;
    this.baseKey = baseKey;
    this.exists = node?.actual !== undefined;
    this.reason = reason;
    const available = node?.available ?? false;
    if (blocked) this.phase = { state: 'blocked', reason: blocked, available };
    else this.phase = available ? AVAILABLE : UNAVAILABLE;
    this.derivedDependencies = node?.derivedDependencies ?? none;
    this.goal = node ? goalOf(node, blocked !== undefined) : noGoal;
  }

  /** No operation on it is possible. */
  get isBlocked(): boolean {
    return this.phase.state === 'blocked' && this.phase.reason !== 'claim taken';
  }

  get isAvailable(): boolean {
    return this.phase.available;
  }

  /** Names of the resources that the goal occupies. */
  get claims(): readonly string[] {
    if (!this.descriptor?.claims) return none;
    const { goal } = this;
    if (this.#claimsOf !== goal) {
      this.#claimsOf = goal;
      const names = goal.claims ?? claimsOf(this, goal.value);
      const actual = this.node?.claims ?? none;
      // The same array if the names are the same, so that comparing them is cheap.
      this.#claims = deepEqual(names, actual) ? actual : names;
    }
    return this.#claims;
  }

  /** A descriptor can configure it, or none is needed: a property has no descriptor. */
  get isImplemented(): boolean {
    return this.descriptor !== undefined || this.baseKey !== undefined || this.goal.unmanaged;
  }

  get isCreated(): boolean {
    const { action } = this.decision;
    return action === 'create' || action === 'recreate';
  }

  get isUpdated(): boolean {
    return this.decision.action === 'update';
  }

  get isDeleted(): boolean {
    const { action } = this.decision;
    return action === 'delete' || action === 'recreate';
  }
}

type EditableValue = { -readonly [K in keyof PlannedValue]: PlannedValue[K] };

/** The value to be changed: for the resolver and `decisions.ts`. */
export function editable(value: PlannedValue): EditableValue {
  return value;
}

const noGoal: Goal = {
  desired: undefined,
  value: undefined,
  unmanaged: false,
  metadata: undefined,
  dependencies: none,
  rejected: undefined,
  claims: undefined,
};

/** @param isBlocked the goal is then what exists, not what was desired */
function goalOf(node: Node, isBlocked: boolean): Goal {
  const { actual, unmanaged, rejected } = node;
  const { desired, dependencies: desiredDependencies } = rejected
    ? lastValidOf(node)
    : desiredOf(node);
  let value = unmanaged ? actual : desired;
  let dependencies = unmanaged ? none : desiredDependencies;
  if (isBlocked) {
    const isToBeRemoved = desired === undefined && !unmanaged;
    value = isToBeRemoved ? undefined : actual;
    dependencies = node.actualDependencies;
  }
  const claims = undefined;
  return { desired, value, unmanaged, metadata: undefined, dependencies, rejected, claims };
}

type DesiredValue = Pick<Goal, 'desired' | 'dependencies'>;

function desiredOf({ desired, desiredDependencies }: Node): DesiredValue {
  return { desired, dependencies: desiredDependencies };
}

/**
 * The value that stays in place while a new one is rejected: the one that was desired before. If none is
 * known, as after a restart of the agent, it is the value that was found in the southbound: it must not
 * be removed only because its successor is invalid.
 */
export function lastValidOf(node: Node | undefined): DesiredValue {
  if (node?.desired !== undefined) return desiredOf(node);
  const isFound = node?.state === 'DISCOVERED' || node?.state === 'OBTAINED';
  if (!isFound) return { desired: undefined, dependencies: none };
  return { desired: node.actual, dependencies: node.actualDependencies };
}
