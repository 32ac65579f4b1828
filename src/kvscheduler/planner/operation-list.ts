/**
 * The list of operations as it grows: what each of them does to a value's state, why it is there,
 * and which earlier ones it has to wait for. Whoever relies on a value waits for the last change
 * of it; whoever changes a value waits for those who relied on it before; whoever takes a claim
 * waits for those who gave it up.
 */

import type { Dependency } from '../api/descriptor.ts';
import type { Value } from '../api/transaction.ts';
import type { Operation, ValueState } from '../api/value-state.ts';
import { deepEqual } from '../graph/equality.ts';
import { claimLabel } from '../graph/value-status.ts';
import type { PlannedOperation } from './operation.ts';
import type { Draft } from './planned-value.ts';
import type { Reason } from './reason.ts';
import type { Resolver } from './resolver.ts';

const none: readonly never[] = [];

interface Entry {
  readonly operation: Operation;
  readonly before: Value | undefined;
  readonly after: Value | undefined;
  readonly stateAfter: ValueState;
  readonly labels?: readonly string[];
  readonly errorAfter?: Error;
  readonly noop?: boolean;
  readonly silent?: boolean;
  readonly recreate?: boolean;
  readonly reason?: Reason;
}

export class OperationList {
  readonly operations: PlannedOperation[] = [];
  readonly #resolver: Resolver;
  /** Places of the operations that gave a claim up, by its name. */
  readonly #released = new Map<string, number[]>();

  constructor(resolver: Resolver) {
    this.#resolver = resolver;
  }

  remove(draft: Draft): void {
    const { node, wish, up, interruption } = draft;
    const before = node?.actual;
    const entry: Entry = { operation: 'DELETE', before, after: undefined, stateAfter: 'REMOVED' };
    let details: Partial<Entry> = { recreate: this.#isRecreated(draft) };
    if (wish !== undefined && !up) details = { after: wish, ...this.#whyNot(draft) };
    else if (interruption) {
      details = { ...details, reason: interruption };
      // Derived values go with their base; others wait for what they lost.
      if (interruption.why !== 'derived')
        details = { ...details, after: wish, stateAfter: 'PENDING' };
    }
    const index = this.#add(draft, { ...entry, ...details });
    this.#release(node?.claims ?? none, index);
    draft.deleted = true;
  }

  create(draft: Draft): void {
    const { node, wish, current, interruption } = draft;
    // A derived value that went with its base begins anew.
    if (current && interruption?.why === 'derived') draft.state = 'NONEXISTENT';
    // Of what was removed before nothing is left to be known.
    const wasKnown = draft.state === 'PENDING' || (!current && draft.state !== 'REMOVED');
    this.#add(draft, {
      operation: 'CREATE',
      before: wasKnown ? node?.desired : undefined,
      after: wish,
      stateAfter: configured(draft),
      recreate: current && this.#isRecreated(draft),
      reason: interruption ? reasonToReturn(interruption) : draft.reason,
    });
    draft.done = true;
  }

  update(draft: Draft): void {
    const { node, wish } = draft;
    const index = this.#add(draft, {
      operation: 'UPDATE',
      before: node?.actual,
      after: wish,
      stateAfter: configured(draft),
    });
    this.#release(releasedByUpdate(draft), index);
    draft.done = true;
  }

  /** What changes in the scheduler's knowledge alone. */
  note(draft: Draft): void {
    if (draft.done || draft.held) return;
    draft.done = true;
    if (draft.suspended) return;
    const { node, wish, state } = draft;
    const noop = true;
    if (draft.current) {
      const stateAfter = configured(draft);
      // To find a value as it should be, after a restart, is not worth a line.
      const silent = state === stateAfter || state === 'DISCOVERED';
      const before = node?.actual;
      this.#add(draft, { operation: 'UPDATE', before, after: wish, stateAfter, noop, silent });
    } else if (wish === undefined) {
      if (!node) return;
      const silent = draft.foreign || state === 'NONEXISTENT' || state === 'REMOVED';
      const [before, stateAfter] = [node.desired, 'REMOVED' as const];
      this.#add(draft, { operation: 'DELETE', before, after: wish, stateAfter, noop, silent });
    } else if (!draft.up) {
      const why = this.#whyNot(draft);
      const before = node?.desired;
      const silent = before !== undefined && deepEqual(before, wish) && state === why.stateAfter;
      this.#add(draft, { operation: 'CREATE', before, after: wish, noop, silent, ...why });
    }
  }

  /** Whether the value is as it shall be, at this place of the list. */
  stands(key: string): boolean {
    const draft = this.#resolver.drafts.get(key);
    if (!draft) return this.#resolver.input.graph.get(key)?.available ?? false;
    return draft.needsCreate ? draft.done : draft.up;
  }

  /** Whether the value has been there, for sure, from the beginning up to this place of the list. */
  #isStillThere(key: string): boolean {
    const draft = this.#resolver.drafts.get(key);
    const node = draft ? draft.node : this.#resolver.input.graph.get(key);
    return node?.actual !== undefined && !node.outcomeUnknown && !draft?.deleted;
  }

  /** In which state a value is that cannot be there, and why. */
  #whyNot(draft: Draft): Pick<Entry, 'stateAfter' | 'labels' | 'errorAfter' | 'reason'> {
    const { invalid, blocked } = draft;
    if (!draft.implemented) return { stateAfter: 'UNIMPLEMENTED' };
    if (invalid) return { stateAfter: 'INVALID', errorAfter: invalid, reason: { why: 'invalid' } };
    const unmet = this.#resolver.view.unmet(draft);
    const labels = unmet.map(({ label }) => label);
    const [first] = unmet;
    const stateAfter = 'PENDING';
    if (blocked) {
      labels.push(claimLabel(blocked.name, blocked.by));
      return { stateAfter, labels, reason: { why: 'claim', name: blocked.name } };
    }
    if (!draft.current || first === undefined) return { stateAfter, labels };
    return {
      stateAfter,
      labels,
      reason: { why: 'dependency lost', key: first.key ?? first.label },
    };
  }

  #isRecreated({ recreate, interruption }: Draft): boolean {
    if (recreate) return true;
    if (interruption?.why !== 'derived') return false;
    return this.#resolver.drafts.get(interruption.from)?.recreate ?? false;
  }

  #release(names: readonly string[], index: number): void {
    for (const name of names) {
      const places = this.#released.get(name);
      if (places) places.push(index);
      else this.#released.set(name, [index]);
    }
  }

  #add(draft: Draft, entry: Entry): number {
    const { operation, noop = false } = entry;
    const index = this.operations.length;
    const waits = this.#waits(draft, operation, noop, index);
    this.operations.push({
      operation,
      draft,
      before: entry.before,
      after: entry.after,
      stateBefore: draft.state,
      stateAfter: entry.stateAfter,
      labels: entry.labels ?? none,
      errorBefore: draft.lastOp < 0 ? draft.node?.error : undefined,
      errorAfter: entry.errorAfter,
      call: !noop && !draft.foreign && draft.descriptor !== undefined,
      noop,
      silent: entry.silent ?? false,
      recreate: entry.recreate ?? false,
      reason: entry.reason ?? draft.reason,
      waits,
    });
    draft.state = entry.stateAfter;
    if (!noop) draft.lastOp = index;
    return index;
  }

  /** Whom the operation has to wait for; notes who relies on whom for those that come later. */
  #waits(draft: Draft, operation: Operation, noop: boolean, index: number): number[] {
    const waits: number[] = [];
    const rely = (key: string | undefined): void => {
      const other = key === undefined ? undefined : this.#resolver.drafts.get(key);
      if (!other || other === draft) return;
      if (other.lastOp >= 0) waits.push(other.lastOp);
      if (!isToChange(other)) return;
      if (other.readers) other.readers.push(index);
      else other.readers = [index];
    };
    rely(draft.baseKey);
    if (noop) return waits;
    if (operation !== 'CREATE')
      this.#relyOn(draft.node?.actualDependencies ?? none, rely, (key) => this.#isStillThere(key));
    if (operation !== 'DELETE') {
      this.#relyOn(draft.dependencies, rely, (key) => this.stands(key));
      for (const name of takenBy(draft)) waits.push(...(this.#released.get(name) ?? none));
    }
    if (draft.lastOp >= 0) waits.push(draft.lastOp);
    for (const reader of draft.readers ?? none) waits.push(reader);
    draft.readers = undefined;
    return waits;
  }

  /** Of an `anyOf` dependency one key is enough to rely on. */
  #relyOn(
    dependencies: readonly Dependency[],
    rely: (key: string | undefined) => void,
    has: (key: string) => boolean,
  ): void {
    for (const dependency of dependencies) {
      if (dependency.key !== undefined) rely(dependency.key);
      if (dependency.anyOf) rely(this.#resolver.view.first(dependency, has));
    }
  }
}

/** Names that the draft's operation takes and that its actual value does not hold. */
export function takenBy(draft: Draft): readonly string[] {
  const names = draft.claims;
  if (names.length === 0 || !draft.stays) return names;
  const held = new Set(draft.node?.claims ?? none);
  return names.filter((name) => !held.has(name));
}

export function releasedByUpdate(draft: Draft): string[] {
  const kept = new Set(draft.claims);
  return (draft.node?.claims ?? none).filter((name) => !kept.has(name));
}

function isToChange(draft: Draft): boolean {
  if (draft.needsDelete && !draft.deleted) return true;
  return !draft.done && (draft.needsCreate || draft.needsUpdate);
}

function configured({ foreign }: Draft): ValueState {
  return foreign ? 'OBTAINED' : 'CONFIGURED';
}

/** What stopped a value tells why it comes back. */
function reasonToReturn(interruption: Reason): Reason {
  if (interruption.why !== 'dependency lost') return interruption;
  return { why: 'dependency met', key: interruption.key };
}
