import type { Clock } from '#infra/clock/clock.ts';
import { Slices } from '#infra/clock/slices.ts';
import { SharedMap } from '#infra/collections/shared-map.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { KeyFailure, Value } from '#kvscheduler/api/transaction.ts';
import type { ExternalValues } from './api/desired-values.ts';
import { UnmergedValueError } from './api/errors.ts';
import type { KubeState } from './api/event-handler.ts';
import type {
  ExternalConfigChangePayload,
  ExternalSnapshot,
  KubeSnapshot,
  KubeStateChangePayload,
} from './api/events.ts';
import type { EventTransaction } from './event-transaction.ts';

/**
 * Merges two values of one key to a valid one, or throws; provided by the wiring, which has the models and
 * the descriptors.
 */
export type MergeValues = (key: string, base: Value, over: Value) => Value;

export interface MergedValues<V extends Value | null> {
  readonly values: Map<string, V>;
  /** External values that could not be merged to a valid value. */
  readonly failures: readonly KeyFailure[];
}

/**
 * Cached state of the controller: the state of Kubernetes and the external configuration (by source). Both are
 * input of events only, so a resync rebuilds them.
 */
export class CachedState {
  #kubeState = new Map<string, SharedMap<string, Value>>();
  /** Its view for handlers. */
  #kubeView = new SharedMap<string, ReadonlyMap<string, Value>>();
  /** Source label to its values, in the order of precedence. */
  readonly #external = new Map<string, Map<string, Value>>();
  /** Keys that a source has deleted and that may still be configured in VPP or Linux. */
  readonly #releasedKeys = new Set<string>();
  readonly #merge: MergeValues;
  readonly #clock: Clock;
  readonly #log: Logger;

  /** @param sources labels in the order of precedence: the last one wins */
  constructor(sources: readonly string[], merge: MergeValues, clock: Clock, log: Logger) {
    for (const source of sources) this.#external.set(source, new Map());
    this.#merge = merge;
    this.#clock = clock;
    this.#log = log;
  }

  get kubeState(): KubeState {
    return this.#kubeView.view;
  }

  /** The external configuration as handlers see it. */
  readonly external: ExternalValues = {
    get: (key) => {
      let found: Value | undefined;
      for (const values of this.#external.values()) found = values.get(key) ?? found;
      return found;
    },
    keys: () => new Set([...this.#external.values()].flatMap((values) => [...values.keys()])),
  };

  /** Whether a source sets the key, or has deleted it and it could not be removed since. */
  isExternalKey(key: string): boolean {
    for (const values of this.#external.values()) if (values.has(key)) return true;
    return this.#releasedKeys.has(key);
  }

  /** Labels of the sources that set the key, in the order of precedence: the last one wins. */
  sourcesOf(key: string): string[] {
    return [...this.#external].flatMap(([label, values]) => (values.has(key) ? [label] : []));
  }

  /**
   * Called after a transaction: deleted keys are removed by now, except for those that failed.
   * @param tried keys of the transaction; undefined: all
   */
  forgetReleasedKeys(tried: Iterable<string> | undefined, failed: ReadonlySet<string>): void {
    if (this.#releasedKeys.size === 0) return;
    for (const key of tried ?? this.#releasedKeys)
      if (!failed.has(key)) this.#releasedKeys.delete(key);
  }

  /** Copies in slices; the old state is valid until the copy is complete. */
  async replaceKubeState(snapshot: KubeSnapshot): Promise<void> {
    const slices = new Slices(this.#clock);
    const state = new Map<string, SharedMap<string, Value>>();
    const view = new SharedMap<string, ReadonlyMap<string, Value>>();
    for (const [resource, from] of Object.entries(snapshot)) {
      const values = new SharedMap<string, Value>();
      await copyInSlices(from, values, slices);
      state.set(resource, values);
      view.set(resource, values.view);
    }
    this.#kubeState = state;
    this.#kubeView = view;
  }

  changeKubeState({ resource, key, current }: KubeStateChangePayload): void {
    let values = this.#kubeState.get(resource);
    if (!values) {
      values = new SharedMap();
      this.#kubeState.set(resource, values);
      this.#kubeView.set(resource, values.view);
    }
    if (current === undefined) values.delete(key);
    else values.set(key, current);
  }

  /** @throws TypeError if the snapshot is invalid; nothing has changed then */
  async replaceExternal(source: string, values: ExternalSnapshot): Promise<void> {
    const isValue = (key: string, value: unknown) => this.#acceptValue(source, key, value);
    const slices = new Slices(this.#clock);
    const current = new Map<string, Value>();
    await copyInSlices(values, current, slices, isValue);
    for (const key of this.#external.get(source)?.keys() ?? []) {
      if (!current.has(key)) this.#releasedKeys.add(key);
      if (slices.due()) await slices.turn();
    }
    this.#external.set(source, current);
  }

  changeExternal({ source, values }: ExternalConfigChangePayload): void {
    let known = this.#external.get(source);
    if (!known) {
      known = new Map();
      this.#external.set(source, known);
    }
    for (const [key, value] of Object.entries(values)) {
      if (value === null) {
        if (known.delete(key)) this.#releasedKeys.add(key);
      } else if (this.#acceptValue(source, key, value)) known.set(key, value);
    }
  }

  /** A value that its source could not decode is ignored; it deletes nothing. */
  #acceptValue(source: string, key: string, value: unknown): boolean {
    if (typeof value === 'object' && value !== null) return true;
    const what = 'ignoring invalid value of external configuration';
    this.#log.warn({ key, source }, what);
    return false;
  }

  /** The internal value with the values of all sources merged over it; undefined: no value at all. */
  #effectiveValue(
    key: string,
    internal: Value | undefined,
    failures: KeyFailure[],
  ): Value | undefined {
    let value = internal;
    for (const [source, values] of this.#external) {
      const over = values.get(key);
      if (over) value = value ? this.#mergeOver(key, value, over, source, failures) : over;
    }
    return value;
  }

  /** An external value that makes an invalid one is ignored, so that the value of the handlers stays. */
  #mergeOver(key: string, base: Value, over: Value, source: string, failures: KeyFailure[]): Value {
    try {
      return this.#merge(key, base, over);
    } catch (cause) {
      const reason = errorText(cause);
      this.#log.warn({ key, source, reason }, 'ignoring external value that cannot be merged');
      const problem = `cannot be merged over the value of the agent: ${reason}`;
      const error = new UnmergedValueError(problem, { where: key, cause });
      failures.push({ key, operation: 'VALIDATE', error });
      return base;
    }
  }

  /**
   * Values of an update: the changes of the handlers and the changed external keys, each merged.
   * An external delete restores the internal value; an internal delete leaves an external one.
   */
  mergedUpdate(
    { changes, groups }: EventTransaction,
    externalKeys: Iterable<string>,
  ): MergedValues<Value | null> {
    const values = new Map<string, Value | null>();
    const failures: KeyFailure[] = [];
    for (const [key, value] of changes)
      values.set(key, this.#effectiveValue(key, value ?? undefined, failures) ?? null);
    for (const key of externalKeys)
      if (!values.has(key))
        values.set(key, this.#effectiveValue(key, groups.value(key), failures) ?? null);
    return { values, failures };
  }

  /** Values of a resync: those of the handlers and of all sources. */
  async mergedResync({ groups }: EventTransaction): Promise<MergedValues<Value>> {
    const slices = new Slices(this.#clock);
    const merged = new Map<string, Value>();
    const failures: KeyFailure[] = [];
    for (const { key, value } of groups.all()) {
      merged.set(key, this.#effectiveValue(key, value, failures)!);
      if (slices.due()) await slices.turn();
    }
    for (const values of this.#external.values())
      for (const key of values.keys()) {
        if (!merged.has(key)) merged.set(key, this.#effectiveValue(key, undefined, failures)!);
        if (slices.due()) await slices.turn();
      }
    return { values: merged, failures };
  }
}

async function copyInSlices<V extends Value>(
  values: Readonly<Record<string, V>>,
  copy: Map<string, V>,
  slices: Slices,
  isAccepted: (key: string, value: V) => boolean = () => true,
): Promise<void> {
  for (const key of Object.keys(values)) {
    const value = values[key]!;
    if (isAccepted(key, value)) copy.set(key, value);
    if (slices.due()) await slices.turn();
  }
}
