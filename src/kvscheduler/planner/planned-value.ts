import type { AnyDescriptor, Dependency } from '../api/descriptor.ts';
import type { Value } from '../api/transaction.ts';
import type { ValueState } from '../api/value-state.ts';
import { deepEqual } from '../graph/equality.ts';
import { claimsOf, type Node } from '../graph/graph.ts';
import type { Reason } from './reason.ts';

const none: readonly never[] = [];

/** What a plan makes of one value: the graph itself is not touched by planning. */
export class Draft {
  readonly key: string;
  /** Undefined for a value that the graph does not know yet. */
  readonly node: Node | undefined;
  readonly descriptor: AnyDescriptor | undefined;
  /** Key of the value that this one is derived from. */
  readonly baseKey: string | undefined;
  /** Not ours: no descriptor is called. */
  foreign: boolean;
  /** Metadata that a notification brings. */
  metadata: unknown;
  /** What the graph shall remember as wished. */
  wanted: Value | undefined;
  /** What shall be there if its dependencies allow; undefined: nothing. */
  wish: Value | undefined;
  /** Those of the wish. */
  dependencies: readonly Dependency[];
  /** Why the wish cannot be configured whatever its dependencies are. */
  invalid: Error | undefined;
  /** Under which dependencies the plan's own index has the draft. */
  indexed: readonly Dependency[] = none;
  /** It is there when the plan begins. */
  readonly current: boolean;
  /** Nothing may be done to it: an operation on it failed, or something held needs it. */
  readonly held: boolean;
  /** It is available when the plan has been carried out. */
  up: boolean;
  /** It is there throughout. */
  stays = false;
  /** Another value, so that an operation is needed although it stays. */
  changed = false;
  /** It is another value, but nothing is done about it in this transaction. */
  suspended = false;
  /** The change is more than an update can do. */
  recreate = false;
  /** Its own wish came with this transaction. */
  target = false;
  /** The order of operations begins with it. */
  seed = false;
  reason: Reason;
  /** Why it goes although it comes back. */
  interruption: Reason | undefined;
  /** The claim that another value holds, and that value's key. */
  blocked: { readonly name: string; readonly by: string } | undefined;
  /** Keys of values that it had lost a claim to and that could not stay without it. */
  outlived: Set<string> | undefined;
  /** Was raised once because a claim that it waits for is given up. */
  woken = false;
  /** Was taken out once: who depends on it may have gone with it. */
  lowered = false;
  /** In the queue of those whose dependencies have to be looked at. */
  doubted = false;
  /** `stays`, `changed` and `recreate` have been worked out. */
  judged = false;
  /** What `derived` made of the wish, and of which wish. */
  derivedOf: Value | undefined;
  derivedValues: readonly { readonly key: string; readonly value: Value }[] = none;
  /** Drafts of derived values that the graph does not know yet. */
  newChildren: readonly Draft[] = none;
  /** The node itself, once the plan is being carried out. */
  live: Node | undefined;

  /** The claims, and of which wish they are. */
  #claims: readonly string[] = none;
  #claimedBy: Value | undefined;

  // How far the ordering of operations has come with this value.
  state: ValueState;
  removing = false;
  deleted = false;
  done = false;
  /** Could not be placed yet, because something that it needs comes later. */
  deferred = false;
  lastOp = -1;
  /** Operations since `lastOp` that rely on this value. */
  readers: number[] | undefined;

  constructor(
    subject: Pick<Node, 'key' | 'descriptor'>,
    node: Node | undefined,
    baseKey: string | undefined,
    held: boolean,
    reason: Reason,
  ) {
    this.key = subject.key;
    this.descriptor = subject.descriptor;
    this.node = node;
    this.live = node;
    this.state = node?.state ?? 'NONEXISTENT';
    this.baseKey = baseKey;
    this.held = held;
    this.reason = reason;
    this.foreign = node?.unmanaged ?? false;
    this.current = node?.actual !== undefined;
    this.wanted = node?.desired;
    this.up = node?.available ?? false;
    if (held) {
      // What is held counts as what it is, not as what it was to become.
      const leaving = this.wanted === undefined && !this.foreign;
      this.wish = leaving ? undefined : node?.actual;
      this.dependencies = node?.actualDependencies ?? none;
    } else {
      this.wish = this.foreign ? node?.actual : this.wanted;
      this.dependencies = this.foreign ? none : (node?.desiredDependencies ?? none);
    }
    this.invalid = node?.invalid;
  }

  /** @param child derived from this one, and unknown to the graph */
  addChild(child: Draft): void {
    if (this.newChildren === none) this.newChildren = [child];
    else (this.newChildren as Draft[]).push(child);
  }

  /** Names of the resources that the wish occupies. */
  get claims(): readonly string[] {
    if (this.#claimedBy !== this.wish) this.learnClaims(claimsOf(this, this.wish));
    return this.#claims;
  }

  /** @param names what the descriptor says that the wish occupies */
  learnClaims(names: readonly string[]): void {
    this.#claimedBy = this.wish;
    const held = this.node?.claims ?? none;
    // The same list where it is, so that names need not be read to be compared.
    this.#claims = deepEqual(names, held) ? held : names;
  }

  /** Somebody can configure it: a property needs nobody. */
  get implemented(): boolean {
    return this.descriptor !== undefined || this.baseKey !== undefined || this.foreign;
  }

  get needsDelete(): boolean {
    return this.current && !this.held && !(this.up && this.stays);
  }

  get needsCreate(): boolean {
    return this.up && !this.held && !(this.current && this.stays);
  }

  get needsUpdate(): boolean {
    return this.current && this.up && this.stays && this.changed && !this.held;
  }
}
