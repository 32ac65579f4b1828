/**
 * The operations of a plan in their order: the state that each leaves its value in, its reason, and
 * the earlier operations that it waits for. An operation waits for the last operations on the values
 * that it relies on, for the operations that relied on its own value before, for those that released a
 * claim that it takes, and for those that removed a leftover in its way.
 */

import type { Dependency } from '../api/descriptor.ts';
import type { Value } from '../api/transaction.ts';
import type { Operation, ValueState } from '../api/value-state.ts';
import { deepEqual } from '../graph/equality.ts';
import { leftoverOf } from '../graph/leftovers.ts';
import { PrefixMap } from '../graph/prefix-map.ts';
import { claimLabel } from '../graph/value-status.ts';
import { stays } from './decisions.ts';
import type { MatchFinder } from './match-finder.ts';
import type { Barrier, PlannedOperation } from './operation.ts';
import type { PlannedValue } from './planned-value.ts';
import { Precedence } from './precedence.ts';
import type { Reason } from './reason.ts';
import type { Resolution } from './resolution.ts';

const none: readonly never[] = [];

/** How far the ordering is with a value. */
export type Progress =
  | 'open'
  /** An update that cannot be placed yet, because an operation that it needs comes later. */
  | 'deferred'
  /** Its derived values and dependents are being removed. */
  | 'removing'
  | 'removed'
  /** Its last operation is placed. */
  | 'placed';

interface Entry {
  readonly operation: Operation;
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  readonly stateAfter: ValueState;
  readonly awaited?: readonly string[];
  readonly errorAfter?: Error | undefined;
  readonly noop?: boolean;
  readonly silent?: boolean;
  readonly recreate?: boolean;
  readonly reason?: Reason;
}

export class OperationList {
  readonly operations: PlannedOperation[] = [];
  /** Finds values that are available after the operations so far. */
  readonly available: MatchFinder;
  /** Finds values that certainly exist from the beginning up to this point of the list. */
  readonly #existing: MatchFinder;
  readonly #resolution: Resolution;
  // Tables by the index of a value.
  readonly #progress: Progress[];
  /** State after the operations so far. */
  readonly #states: ValueState[];
  /** Position of the last operation that changes more than the graph; -1: none. */
  readonly #lastOperation: Int32Array;
  /** Operations since the last one on the value that rely on it. */
  readonly #readers: (number[] | undefined)[];
  /** Positions of the operations that released a claim, by its name. */
  readonly #released = new Map<string, number[]>();
  /** The operations that remove leftovers, by the key prefixes of values that wait for them. */
  readonly #precedences = new PrefixMap<Precedence>();
  /** Positions that the operation that is being added waits for. */
  readonly #waitsOfOne: number[] = [];

  constructor(resolution: Resolution) {
    const { graph } = resolution;
    const { all } = graph;
    this.#resolution = resolution;
    this.available = graph.finder((key) => this.#isAvailable(key));
    this.#existing = graph.finder((key) => this.#stillExists(key));
    this.#progress = new Array<Progress>(all.length).fill('open');
    this.#states = all.map(({ node }) => node?.state ?? 'NONEXISTENT');
    this.#lastOperation = new Int32Array(all.length).fill(-1);
    this.#readers = new Array<number[] | undefined>(all.length).fill(undefined);
  }

  progress({ index }: PlannedValue): Progress {
    return this.#progress[index] as Progress;
  }

  setProgress({ index }: PlannedValue, progress: Progress): void {
    this.#progress[index] = progress;
  }

  isPlaced(value: PlannedValue): boolean {
    return this.progress(value) === 'placed';
  }

  /** A delete of the value is in the list. */
  isRemoved(value: PlannedValue): boolean {
    const progress = this.progress(value);
    return progress === 'removed' || (progress === 'placed' && value.isDeleted);
  }

  remove(value: PlannedValue): void {
    const { node, goal, isAvailable } = value;
    const intended = goal.value ?? goal.rejected?.value;
    const before = node?.actual;
    const entry: Entry = { operation: 'DELETE', before, after: undefined, stateAfter: 'REMOVED' };
    let details: Partial<Entry> = { recreate: this.#isRecreated(value) };
    const interruption = interruptionOf(value);
    if (intended !== undefined && !isAvailable)
      details = { after: intended, ...this.#whyUnavailable(value) };
    else if (interruption) {
      details = { ...details, reason: interruption };
      // Derived values are removed with their base; others are pending until they are created again.
      if (interruption.why !== 'derived')
        details = { ...details, after: goal.value, stateAfter: 'PENDING' };
    }
    const index = this.#add(value, { ...entry, ...details });
    this.#release(node?.claims ?? none, index);
    const { precedes = none } = (node && leftoverOf(node)) ?? {};
    for (const prefix of precedes) {
      const precedence = this.#precedences.get(prefix) ?? new Precedence();
      this.#precedences.set(prefix, precedence);
      precedence.add(index);
    }
    this.setProgress(value, 'removed');
  }

  create(value: PlannedValue): void {
    const { node, goal, exists, reason } = value;
    const interruption = interruptionOf(value);
    let state = this.#states[value.index] as ValueState;
    // A derived value that was removed with its base has no history.
    if (exists && interruption?.why === 'derived') state = 'NONEXISTENT';
    this.#states[value.index] = state;
    // Of a value that was removed before, nothing is known any more.
    const wasKnown = state === 'PENDING' || (!exists && state !== 'REMOVED');
    this.#add(value, {
      operation: 'CREATE',
      before: wasKnown ? node?.desired : undefined,
      after: goal.value,
      stateAfter: configuredState(value),
      errorAfter: goal.rejected?.error,
      recreate: exists && this.#isRecreated(value),
      reason: interruption ? reasonToReturn(interruption) : reason,
    });
    this.setProgress(value, 'placed');
    this.available.gained(value.key);
  }

  update(value: PlannedValue): void {
    const { node, goal } = value;
    const index = this.#add(value, {
      operation: 'UPDATE',
      before: node?.actual,
      after: goal.value,
      stateAfter: configuredState(value),
      errorAfter: goal.rejected?.error,
    });
    this.#release(releasedByUpdate(value), index);
    this.setProgress(value, 'placed');
  }

  /** Adds an operation that changes the graph only. */
  note(value: PlannedValue): void {
    if (this.isPlaced(value) || value.isBlocked) return;
    this.setProgress(value, 'placed');
    if (value.decision.action === 'postpone') return;
    const { node, goal } = value;
    const after = goal.rejected?.value ?? goal.value;
    const state = this.#states[value.index] as ValueState;
    const noop = true;
    const isNew = isNewlyRejected(value);
    if (value.exists) {
      const stateAfter = configuredState(value);
      const errorAfter = goal.rejected?.error;
      // A value that was found in the desired state after a restart is not recorded.
      const silent = !isNew && (state === stateAfter || state === 'DISCOVERED');
      const before = node?.actual;
      const reason: Reason = isNew ? { why: 'invalid' } : value.reason;
      const entry = { before, after, stateAfter, errorAfter, noop, silent, reason };
      this.#add(value, { operation: 'UPDATE', ...entry });
    } else if (after === undefined) {
      if (!node) return;
      const silent = goal.unmanaged || state === 'NONEXISTENT' || state === 'REMOVED';
      const before = node.rejected?.value ?? node.desired;
      const stateAfter = 'REMOVED';
      this.#add(value, { operation: 'DELETE', before, after, stateAfter, noop, silent });
    } else if (!value.isAvailable) {
      const why = this.#whyUnavailable(value);
      const before = node?.rejected?.value ?? node?.desired;
      const silent = before !== undefined && deepEqual(before, after) && state === why.stateAfter;
      this.#add(value, { operation: 'CREATE', before, after, noop, silent, ...why });
    }
  }

  #isAvailable(key: string): boolean {
    const { graph, input } = this.#resolution;
    const value = graph.values.get(key);
    if (!value) return input.graph.get(key)?.available ?? false;
    return value.isCreated ? this.isPlaced(value) : value.isAvailable;
  }

  #stillExists(key: string): boolean {
    const { graph, input } = this.#resolution;
    const value = graph.values.get(key);
    const node = value ? value.node : input.graph.get(key);
    if (node?.actual === undefined || node.outcomeUnknown) return false;
    return !value || !this.isRemoved(value);
  }

  /** The state of a value that cannot be available, and why. */
  #whyUnavailable(
    value: PlannedValue,
  ): Pick<Entry, 'stateAfter' | 'awaited' | 'errorAfter' | 'reason'> {
    const { rejected, value: lastValid } = value.goal;
    if (!value.isImplemented) return { stateAfter: 'UNIMPLEMENTED' };
    if (!rejected) return this.#whyPending(value);
    const invalid = { stateAfter: 'INVALID', errorAfter: rejected.error } as const;
    if (lastValid === undefined) return { ...invalid, reason: { why: 'invalid' } };
    return { ...this.#whyPending(value), ...invalid };
  }

  #whyPending(value: PlannedValue): Pick<Entry, 'stateAfter' | 'awaited' | 'reason'> {
    const { phase } = value;
    const unmet = this.#resolution.graph.unmet(value);
    const awaited = unmet.map(awaitedText);
    const [first] = unmet;
    const stateAfter = 'PENDING';
    if (phase.state === 'blocked' && phase.reason === 'claim taken') {
      awaited.push(`waits for ${claimLabel(phase.claim, phase.by)}`);
      return { stateAfter, awaited, reason: { why: 'claim', name: phase.claim } };
    }
    if (!value.exists || first === undefined) return { stateAfter, awaited };
    return {
      stateAfter,
      awaited,
      reason: { why: 'dependency lost', key: first.key ?? first.label },
    };
  }

  #isRecreated({ decision }: PlannedValue): boolean {
    if (decision.action !== 'recreate') return false;
    if (decision.isChange) return true;
    const { interruption } = decision;
    if (interruption?.why !== 'derived') return false;
    const base = this.#resolution.graph.values.get(interruption.from)?.decision;
    return base?.action === 'recreate' && base.isChange;
  }

  #release(names: readonly string[], index: number): void {
    for (const name of names) {
      const positions = this.#released.get(name);
      if (positions) positions.push(index);
      else this.#released.set(name, [index]);
    }
  }

  /** @returns the position of the operation */
  #add(value: PlannedValue, entry: Entry): number {
    const { operation, noop = false } = entry;
    const position = this.operations.length;
    const waits = this.#waits(value, operation, noop, position);
    const barriers = noop ? none : this.#barriers(value.key);
    this.operations.push({
      operation,
      value,
      before: entry.before,
      after: entry.after,
      stateBefore: this.#states[value.index] as ValueState,
      stateAfter: entry.stateAfter,
      awaited: entry.awaited ?? none,
      errorBefore: this.#last(value) < 0 ? value.node?.error : undefined,
      errorAfter: entry.errorAfter,
      newlyRejected: entry.errorAfter !== undefined && isNewlyRejected(value),
      call: !noop && !value.goal.unmanaged && value.descriptor !== undefined,
      noop,
      silent: entry.silent ?? false,
      recreate: entry.recreate ?? false,
      reason: entry.reason ?? value.reason,
      waits,
      barriers,
    });
    this.#states[value.index] = entry.stateAfter;
    if (!noop) this.#lastOperation[value.index] = position;
    return position;
  }

  #last({ index }: PlannedValue): number {
    return this.#lastOperation[index] as number;
  }

  /** Operations that this one waits for; registers it with the values that it relies on. */
  #waits(
    value: PlannedValue,
    operation: Operation,
    noop: boolean,
    position: number,
  ): readonly number[] {
    const waits = this.#waitsOfOne;
    waits.length = 0;
    this.#rely(value, value.baseKey, position);
    if (!noop) {
      const { node, goal, index } = value;
      if (operation !== 'CREATE' && node)
        this.#relyOnEach(value, node.actualDependencies, this.#existing, position);
      if (operation !== 'DELETE') {
        this.#relyOnEach(value, goal.dependencies, this.available, position);
        if (this.#released.size > 0)
          for (const name of takenBy(value)) waits.push(...(this.#released.get(name) ?? none));
      }
      const last = this.#last(value);
      if (last >= 0) waits.push(last);
      const readers = this.#readers[index];
      if (readers) for (const reader of readers) waits.push(reader);
      this.#readers[index] = undefined;
    }
    return waits.length === 0 ? none : waits.slice();
  }

  #barriers(key: string): readonly Barrier[] {
    const prefixes = this.#precedences.prefixesOf(key);
    if (prefixes.length === 0) return none;
    return prefixes.map((prefix) => (this.#precedences.get(prefix) as Precedence).barrier());
  }

  #rely(value: PlannedValue, key: string | undefined, position: number): void {
    const other = key === undefined ? undefined : this.#resolution.graph.values.get(key);
    if (!other || other === value) return;
    const last = this.#last(other);
    if (last >= 0) this.#waitsOfOne.push(last);
    if (!this.#willChange(other)) return;
    const readers = this.#readers[other.index];
    if (readers) readers.push(position);
    else this.#readers[other.index] = [position];
  }

  /** Of an `anyOf` dependency, one key is enough. */
  #relyOnEach(
    value: PlannedValue,
    dependencies: readonly Dependency[],
    finder: MatchFinder,
    position: number,
  ): void {
    if (dependencies.length === 0) return;
    for (const dependency of dependencies) {
      this.#rely(value, dependency.key, position);
      if (dependency.anyOf) this.#rely(value, finder.find(dependency), position);
    }
  }

  #willChange(value: PlannedValue): boolean {
    if (value.isDeleted && !this.isRemoved(value)) return true;
    return !this.isPlaced(value) && (value.isCreated || value.isUpdated);
  }
}

/** Names the missing key: a label says only what it is for. */
function awaitedText({ label, key, anyOf }: Dependency): string {
  const keys = anyOf?.prefixes.map((prefix) => `a key with the prefix ${prefix}`) ?? [];
  if (key !== undefined) keys.unshift(key);
  const missing = keys.join(' or ');
  return missing === label ? `unmet dependency ${label}` : `unmet dependency ${label}: ${missing}`;
}

/** Claims that the value takes with its operation and that its actual value does not have. */
export function takenBy(value: PlannedValue): readonly string[] {
  const names = value.claims;
  if (names.length === 0 || !stays(value)) return names;
  const actual = new Set(value.node?.claims ?? none);
  return names.filter((name) => !actual.has(name));
}

export function releasedByUpdate(value: PlannedValue): string[] {
  const kept = new Set(value.claims);
  return (value.node?.claims ?? none).filter((name) => !kept.has(name));
}

function interruptionOf({ decision }: PlannedValue): Reason | undefined {
  return decision.action === 'recreate' ? decision.interruption : undefined;
}

/** The state of a value that exists as its goal says. */
function configuredState({ goal }: PlannedValue): ValueState {
  if (goal.rejected) return 'INVALID';
  return goal.unmanaged ? 'OBTAINED' : 'CONFIGURED';
}

function isNewlyRejected({ goal, node }: PlannedValue): boolean {
  return goal.rejected !== undefined && goal.rejected !== node?.rejected;
}

/** The reason that removed a value is the reason why it is created again. */
function reasonToReturn(interruption: Reason): Reason {
  if (interruption.why !== 'dependency lost') return interruption;
  return { why: 'dependency met', key: interruption.key };
}
