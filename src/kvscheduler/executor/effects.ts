import { traitsOf } from '#infra/errors/errors.ts';
import type { AnyDescriptor } from '../api/descriptor.ts';
import type { ValueState } from '../api/value-state.ts';
import type { Graph, Node } from '../graph/graph.ts';
import type { PlannedOperation } from '../planner/operation.ts';
import type { Effects } from './executor.ts';

const none: readonly never[] = [];

export interface RetryRule {
  /** Whether a failure of this value is going to be repeated if its descriptor has no objection. */
  mayRetry(node: Node): boolean;
}

/** What the outcome of operations makes of the graph, and what may not be touched any more. */
export class GraphEffects implements Effects {
  /** Nodes of which an operation failed. */
  readonly frozen = new Set<Node>();
  readonly #graph: Graph;
  readonly #rule: RetryRule;
  readonly #seqNum: number;

  /** @param seqNum of the transaction that the operations belong to */
  constructor(graph: Graph, rule: RetryRule, seqNum: number) {
    this.#graph = graph;
    this.#rule = rule;
    this.#seqNum = seqNum;
  }

  succeeded(operation: PlannedOperation, metadata: unknown): void {
    const { draft, stateAfter, noop } = operation;
    const node = draft.live as Node;
    const graph = this.#graph;
    if (operation.operation === 'DELETE') {
      if (!noop) graph.setActual(node, undefined, none);
    } else if (!noop || draft.current) {
      const dependencies = draft.foreign ? none : draft.dependencies;
      graph.setActual(node, draft.wish, dependencies, draft.claims);
      // of one that was found, what was found with it stays
      if (draft.foreign) {
        if (draft.target) graph.setMetadata(node, draft.metadata);
      } else if (operation.call) graph.setMetadata(node, metadata);
    }
    if (!operation.silent || node.state === 'DISCOVERED') {
      node.lastOperation = operation.operation;
      node.lastTxn = this.#seqNum;
    }
    if (draft.foreign) node.lastOperation = undefined;
    graph.failed.delete(node);
    graph.blocked.delete(node);
    node.state = stateAfter;
    node.error = operation.errorAfter;
  }

  failed(operation: PlannedOperation, error: Error): void {
    const { draft } = operation;
    const node = draft.live as Node;
    this.frozen.add(node);
    this.#graph.failed.add(node);
    node.error = error;
    node.lastOperation = operation.operation;
    node.lastTxn = this.#seqNum;
    node.state = this.#stateOf(node, draft.descriptor, error);
    if (traitsOf(error).outcome !== 'unknown' || !node.root.descriptor?.retrieve) return;
    // Until it is read back it counts as there, with what it was and what it was to be, for all that
    // must not happen beneath it.
    const graph = this.#graph;
    const maybe = operation.after ?? operation.before;
    if (maybe === undefined) return;
    const dependencies = [...node.actualDependencies, ...draft.dependencies];
    graph.setActual(node, node.actual ?? maybe, dependencies);
    graph.setOutcomeUnknown(node, maybe);
  }

  #stateOf(node: Node, descriptor: AnyDescriptor | undefined, error: Error): ValueState {
    if (traitsOf(error).isRetriable === false) return 'FAILED';
    const retriable = descriptor?.isRetriable?.(error) ?? true;
    return retriable && this.#rule.mayRetry(node.root) ? 'RETRYING' : 'FAILED';
  }
}
