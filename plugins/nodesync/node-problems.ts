import { type CodedError, defineError } from '#infra/errors/errors.ts';
import type { Logger } from '#infra/log/log.ts';
import type { AddressRefusal } from './address-rules.ts';

export const NodeAddressError = defineError({
  name: 'NodeAddressError',
  code: 'CV_NODESYNC_ADDRESS',
  isRetriable: false,
  remedy:
    'Correct the addresses of the named node: its Node object in Kubernetes, or the configuration of its agent.',
});

const NodeNameError = defineError({
  name: 'NodeNameError',
  code: 'CV_NODESYNC_NAME',
  isRetriable: false,
  remedy:
    'Start the agent of the node with the name of its Node object (MICROSERVICE_LABEL): kubelet writes it in lower case.',
});

/** @param kubeName that of the Node object, which differs only in case */
export function nodeNameError(name: string, kubeName: string): CodedError {
  return new NodeNameError(
    `node ${name} has no Node object: the name of ${kubeName} differs in upper and lower case`,
  );
}

type Log = Pick<Logger, 'warn'>;

/** A part of the records of a node that is not used. */
export interface NodeProblem {
  /** Nodes with the same one share a log line, for example an address that all nodes have. */
  readonly subject: string;
  readonly error: CodedError;
}

export function addressProblem(
  node: string,
  address: string,
  { reason, phrase }: AddressRefusal,
): NodeProblem {
  return {
    subject: `${reason} ${address}`,
    error: new NodeAddressError(`ignoring an address of node ${node}: ${address} ${phrase}`),
  };
}

export function nodeNameProblem(node: string, kubeName: string): NodeProblem {
  return { subject: `name ${node}`, error: nodeNameError(node, kubeName) };
}

export function unreachableProblem(node: string, reason: string): NodeProblem {
  const text = `node ${node} cannot be reached: ${reason}`;
  return { subject: text, error: new NodeAddressError(text) };
}

/** The problems of nodes by name, which are no problems of this one. They fail nothing. */
export class NodeProblems {
  readonly #byNode = new Map<string, readonly NodeProblem[]>();
  /** Number of nodes by subject. */
  readonly #subjects = new Map<string, number>();

  /** In sentences for operators. */
  of(node: string): readonly string[] {
    return (this.#byNode.get(node) ?? []).map(({ error }) => error.message);
  }

  nodes(): readonly string[] {
    return [...this.#byNode.keys()];
  }

  /** Replaces the problems of all nodes. */
  replaceAll(log: Log, problems: ReadonlyMap<string, readonly NodeProblem[]>): void {
    for (const [name, ofNode] of problems) this.set(log, name, ofNode);
    for (const name of this.nodes()) if (!problems.has(name)) this.set(log, name, []);
  }

  /** Replaces the problems of a node; a subject that no node had before is logged. */
  set(log: Log, node: string, problems: readonly NodeProblem[]): void {
    const before = this.#byNode.get(node) ?? [];
    for (const { subject, error } of problems) {
      const count = this.#subjects.get(subject) ?? 0;
      if (count === 0) log.warn({ err: error, node }, error.message);
      this.#subjects.set(subject, count + 1);
    }
    for (const { subject } of before) {
      const count = this.#subjects.get(subject)! - 1;
      if (count === 0) this.#subjects.delete(subject);
      else this.#subjects.set(subject, count);
    }
    if (problems.length === 0) this.#byNode.delete(node);
    else this.#byNode.set(node, problems);
  }
}
