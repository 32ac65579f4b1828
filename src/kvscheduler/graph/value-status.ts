import type { Dependency } from '../api/descriptor.ts';
import { InvalidValueError } from '../api/descriptor.ts';
import type { Operation, ValueState } from '../api/value-state.ts';
import { byKey } from './by-key.ts';
import type { Graph } from './graph.ts';
import type { Node } from './node.ts';

/** State of one value, with the field names that REST shows. */
export interface ValueStatus {
  readonly key: string;
  readonly state: ValueState;
  readonly error?: string;
  readonly last_operation?: Operation;
  /** The unmet dependencies of a pending value, or the wrong fields of an invalid one. */
  readonly details?: readonly string[];
  /**
   * Of a value whose new desired value was rejected: the state of the last valid one, which stays in
   * place. Absent if there is none.
   */
  readonly last_valid_state?: ValueState;
}

export interface BaseValueStatus {
  readonly value: ValueStatus;
  readonly derived_values?: readonly ValueStatus[];
}

/** Status of a base value with its derived values. */
export function statusOf(
  graph: Graph,
  node: Node,
  unavailable: UnavailablePrefixes = new UnavailablePrefixes(graph),
): BaseValueStatus {
  const status = (one: Node): ValueStatus => valueStatus(graph, one, unavailable);
  const derived = [...node.derived].sort(byKey).map(status);
  return {
    value: status(node),
    ...(derived.length > 0 && { derived_values: derived }),
  };
}

export function unknownStatus(key: string): BaseValueStatus {
  return { value: { key, state: 'NONEXISTENT' } };
}

/** Knows of which prefixes no key is available: many values may wait for the same. */
export class UnavailablePrefixes {
  readonly #graph: Graph;
  readonly #known = new Map<string, boolean>();
  #changes = -1;

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  has(prefix: string): boolean {
    const { changes } = this.#graph;
    if (changes !== this.#changes) this.#known.clear();
    this.#changes = changes;
    let isUnavailable = this.#known.get(prefix);
    if (isUnavailable === undefined) {
      isUnavailable = true;
      for (const { available } of this.#graph.withPrefix(prefix)) {
        if (!available) continue;
        isUnavailable = false;
        break;
      }
      this.#known.set(prefix, isUnavailable);
    }
    return isUnavailable;
  }
}

function valueStatus(graph: Graph, node: Node, unavailable: UnavailablePrefixes): ValueStatus {
  const { key, state, error, lastOperation, rejected, desired, actual } = node;
  const details = detailsOf(graph, node, unavailable);
  return {
    key,
    state,
    ...(error && { error: error.message }),
    ...(lastOperation && { last_operation: lastOperation }),
    ...(details.length > 0 && { details }),
    ...(rejected &&
      desired !== undefined && {
        last_valid_state: actual === desired ? ('CONFIGURED' as const) : ('PENDING' as const),
      }),
  };
}

function detailsOf(graph: Graph, node: Node, unavailable: UnavailablePrefixes): readonly string[] {
  return node.state === 'PENDING' ? awaitedBy(graph, node, unavailable) : faultsOf(node);
}

/** The details of a value that is not pending. */
export function faultsOf({ state, error, rejected }: Node): readonly string[] {
  if (state === 'INVALID') return error instanceof InvalidValueError ? error.fields : [];
  // An operation on its last valid value failed: `error` is about that.
  return rejected ? [`invalid: ${rejected.error.message}`] : [];
}

/**
 * The labels that a pending value waits for now. A value with unmet dependencies does not compete for
 * claims, so its claims are not listed.
 */
function awaitedBy(graph: Graph, node: Node, unavailable: UnavailablePrefixes): string[] {
  const labels = node.desiredDependencies
    .filter((dependency) => !isMet(graph, node, dependency, unavailable))
    .map(({ label }) => label);
  return labels.length > 0 ? labels : claimsAwaitedBy(graph, node);
}

/** The claims that a pending value waits for when all its dependencies are met. */
export function claimsAwaitedBy(graph: Graph, { awaitedClaims }: Node): string[] {
  return awaitedClaims.map((name) => {
    const [holder] = graph.holders(name);
    return claimLabel(name, holder?.key);
  });
}

export function claimLabel(name: string, holder: string | undefined): string {
  return holder === undefined ? `claim ${name}` : `claim ${name} (held by ${holder})`;
}

function isMet(
  graph: Graph,
  node: Node,
  { key, anyOf }: Dependency,
  unavailable: UnavailablePrefixes,
): boolean {
  const meets = (other: Node | undefined): boolean =>
    (other?.available ?? false) && other?.base !== node;
  if (key !== undefined && meets(graph.get(key))) return true;
  for (const prefix of anyOf?.prefixes ?? []) {
    if (unavailable.has(prefix)) continue;
    if (!anyOf?.accepts && node.derived.size === 0) return true;
    for (const other of graph.withPrefix(prefix))
      if (meets(other) && (anyOf?.accepts?.(other.key) ?? true)) return true;
  }
  return false;
}
