/**
 * Executes a plan with a window of operations in flight. An operation starts when those that it waits
 * for have succeeded, the earliest in the plan first. Operations that wait for a failed one never start.
 */

import type { Slices } from '#infra/clock/slices.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { AnyDescriptor, Dependency, OperationContext } from '../api/descriptor.ts';
import {
  NoMetadataError,
  UndeclaredReadError,
  UnimplementedOperationError,
} from '../api/errors.ts';
import type { Graph } from '../graph/graph.ts';
import type { Node } from '../graph/node.ts';
import type { Barrier, PlannedOperation } from '../planner/operation.ts';
import type { PlannedValue } from '../planner/planned-value.ts';
import type { DescriptorCall, DescriptorCalls } from './descriptor-calls.ts';
import { MinHeap } from './min-heap.ts';

/** Undefined: not executed, because it waits for an operation that failed. */
export type Outcome = { readonly error?: Error } | undefined;

const done: Outcome = {};

/** Receives the results of operations, and maps planned values to nodes. */
export interface OperationResults {
  nodeOf(value: PlannedValue): Node;
  applySuccess(operation: PlannedOperation, metadata: unknown): void;
  applyFailure(operation: PlannedOperation, error: Error): void;
}

export interface ExecutorOptions {
  readonly graph: Graph;
  readonly window: number;
  readonly slices: Slices;
  readonly calls: DescriptorCalls;
  readonly results: OperationResults;
}

/** Executes as much as possible. @returns outcomes by position in the plan */
export async function execute(
  operations: readonly PlannedOperation[],
  options: ExecutorOptions,
): Promise<readonly Outcome[]> {
  const execution = new Execution(operations, options);
  await execution.prepare();
  await execution.upToLevel(Number.POSITIVE_INFINITY);
  return execution.outcomes;
}

/**
 * All or nothing: executes level by level. The operations of a level wait only for those of the levels
 * before it. A level in which an operation fails is completed, the next one is not started.
 */
export async function executeByLevel(
  operations: readonly PlannedOperation[],
  options: ExecutorOptions,
): Promise<readonly Outcome[]> {
  const execution = new Execution(operations, options);
  await execution.prepare();
  for (let level = 0; level <= execution.lastLevel && execution.failures === 0; level++)
    await execution.upToLevel(level);
  return execution.outcomes;
}

/** In place of the number of operations that one waits for: a failed one is among them. */
const SKIPPED = -1;

class Execution {
  readonly outcomes: Outcome[] = [];
  failures = 0;
  lastLevel = 0;
  readonly #operations: readonly PlannedOperation[];
  readonly #options: ExecutorOptions;
  /** Barriers have the positions after those of the operations. */
  readonly #barriers = new Map<Barrier, number>();
  /** By position: the number of operations and barriers that it still waits for, and its level. */
  #waiting = new Int32Array();
  #levels = new Int32Array();
  /** Waiting operations as linked lists: the first link of an operation, and the next of a link. */
  #firstLink = new Int32Array();
  #links = 0;
  #linkTo = new Int32Array();
  #nextLink = new Int32Array();
  /** Every operation before it was launched, waits, or is in the heap. */
  #cursor = 0;
  /** Operations before the cursor that have become ready. */
  readonly #ready = new MinHeap();
  /** Operations before the cursor that have to wait for their level. */
  #later: number[] = [];
  #level = -1;
  #inFlight = 0;
  #pausing = false;
  #finished: () => void = () => undefined;
  #broken: (error: unknown) => void = () => undefined;

  constructor(operations: readonly PlannedOperation[], options: ExecutorOptions) {
    this.#operations = operations;
    this.#options = options;
  }

  async prepare(): Promise<void> {
    const { slices } = this.#options;
    let links = 0;
    for (const { waits, barriers } of this.#operations) {
      links += waits.length + barriers.length;
      for (const barrier of barriers) links += this.#addBarrier(barrier);
    }
    this.#linkTo = new Int32Array(links);
    this.#nextLink = new Int32Array(links);
    const positions = this.#operations.length + this.#barriers.size;
    this.#waiting = new Int32Array(positions);
    this.#levels = new Int32Array(positions);
    this.#firstLink = new Int32Array(positions).fill(-1);
    await slices.each(this.#operations, (operation, index) => {
      this.outcomes.push(undefined);
      const last = this.#linkAll(operation, index);
      this.#levels[index] = last + 1;
      this.lastLevel = Math.max(this.lastLevel, last + 1);
    });
  }

  /** Gives positions to a barrier and those before it. @returns the number of their links */
  #addBarrier(barrier: Barrier): number {
    if (this.#barriers.has(barrier)) return 0;
    let links = barrier.waits.length + barrier.barriers.length;
    for (const earlier of barrier.barriers) links += this.#addBarrier(earlier);
    this.#barriers.set(barrier, this.#operations.length + this.#barriers.size);
    return links;
  }

  /** Links a position to all that it waits for. @returns the highest level of these; -1: there are none */
  #linkAll({ waits, barriers }: Barrier, position: number): number {
    if (waits.length === 0 && barriers.length === 0) return -1;
    let level = -1;
    this.#waiting[position] = waits.length + barriers.length;
    for (const wait of waits) {
      this.#link(wait, position);
      level = Math.max(level, this.#levels[wait] as number);
    }
    for (const barrier of barriers) {
      const at = this.#barriers.get(barrier) as number;
      // its operations are linked already, because they precede all that wait for it
      if (this.#waiting[at] === 0) this.#levels[at] = this.#linkAll(barrier, at);
      this.#link(at, position);
      level = Math.max(level, this.#levels[at] as number);
    }
    return level;
  }

  #link(from: number, to: number): void {
    this.#linkTo[this.#links] = to;
    this.#nextLink[this.#links] = this.#firstLink[from] as number;
    this.#firstLink[from] = this.#links++;
  }

  /** Executes the operations up to this level whose predecessors have succeeded. */
  upToLevel(level: number): Promise<void> {
    this.#level = level;
    const later = this.#later;
    this.#later = [];
    for (const index of later) this.#offer(index);
    return new Promise((resolve, reject) => {
      this.#finished = resolve;
      this.#broken = reject;
      this.#pump();
    });
  }

  /** Queues an operation that waits for no other one any more. */
  #offer(index: number): void {
    if ((this.#levels[index] as number) > this.#level) this.#later.push(index);
    else this.#ready.push(index);
  }

  /** The earliest operation that can be launched. */
  #next(): number | undefined {
    if (this.#ready.size > 0) return this.#ready.pop();
    while (this.#cursor < this.#operations.length) {
      const index = this.#cursor++;
      if (this.#waiting[index] !== 0) continue;
      if ((this.#levels[index] as number) <= this.#level) return index;
      this.#later.push(index);
    }
    return undefined;
  }

  /** @param now the time, if it is known */
  #pump(now?: number): void {
    if (this.#pausing) return;
    const { window, slices } = this.#options;
    let began = now;
    try {
      while (this.#inFlight < window) {
        if (slices.due()) {
          this.#pause();
          return;
        }
        const index = this.#next();
        if (index === undefined) break;
        this.#launch(index, began);
        began = undefined;
      }
    } catch (thrown) {
      this.#broken(thrown);
      return;
    }
    if (this.#inFlight === 0) this.#finished();
  }

  #pause(): void {
    this.#pausing = true;
    this.#options.slices.turn().then(() => {
      this.#pausing = false;
      this.#pump();
    }, this.#broken);
  }

  #launch(index: number, now: number | undefined): void {
    const operation = this.#operations[index] as PlannedOperation;
    if (!operation.call) {
      this.#succeed(index, operation, undefined);
      return;
    }
    this.#inFlight++;
    const { calls } = this.#options;
    const call = calls.begin(now);
    calls.run(call, callDescriptor, this.#options, operation).then(
      (metadata: unknown) => this.#settle(index, call, true, metadata),
      (thrown: unknown) => this.#settle(index, call, false, thrown),
    );
  }

  /** @param answer the metadata, or the error */
  #settle(index: number, call: DescriptorCall, hasSucceeded: boolean, answer: unknown): void {
    this.#inFlight--;
    const operation = this.#operations[index] as PlannedOperation;
    const { name } = operation.value.descriptor as AnyDescriptor;
    const now = this.#options.calls.end(name, methods[operation.operation], call);
    try {
      if (hasSucceeded) this.#succeed(index, operation, answer);
      else this.#fail(index, operation, answer);
    } catch (thrown) {
      this.#broken(thrown);
      return;
    }
    this.#pump(now);
  }

  #succeed(index: number, operation: PlannedOperation, metadata: unknown): void {
    this.outcomes[index] = done;
    this.#options.results.applySuccess(operation, metadata);
    this.#open(index);
  }

  /** An operation has succeeded, or a barrier is open. */
  #open(position: number): void {
    for (let at = this.#firstLink[position] as number; at >= 0; at = this.#nextLink[at] as number)
      this.#countDown(this.#linkTo[at] as number);
  }

  #fail(index: number, operation: PlannedOperation, thrown: unknown): void {
    const error = thrown instanceof Error ? thrown : new Error(errorText(thrown));
    this.failures++;
    this.outcomes[index] = { error };
    this.#options.results.applyFailure(operation, error);
    this.#skipWaiting(index);
  }

  /** Skips operations that wait for a failed one, except for reports of the southbound. */
  #skipWaiting(failed: number): void {
    const path = [failed];
    for (let index = path.pop(); index !== undefined; index = path.pop())
      for (let at = this.#firstLink[index] as number; at >= 0; at = this.#nextLink[at] as number) {
        const next = this.#linkTo[at] as number;
        if (this.#operations[next]?.value.goal.unmanaged) this.#countDown(next);
        else if (this.#waiting[next] !== SKIPPED) {
          this.#waiting[next] = SKIPPED;
          path.push(next);
        }
      }
  }

  #countDown(index: number): void {
    const left = this.#waiting[index] as number;
    if (left === SKIPPED) return;
    this.#waiting[index] = left - 1;
    if (left > 1) return;
    if (index >= this.#operations.length) this.#open(index);
    else if (index < this.#cursor) this.#offer(index);
  }
}

const methods = { CREATE: 'Create', UPDATE: 'Update', DELETE: 'Delete' } as const;

type CallOptions = Pick<ExecutorOptions, 'graph' | 'results'>;

function callDescriptor(options: CallOptions, operation: PlannedOperation): Promise<unknown> {
  try {
    return call(options, operation);
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

function call({ graph, results }: CallOptions, operation: PlannedOperation): Promise<unknown> {
  const { value, before, after } = operation;
  const { key } = value;
  const node = results.nodeOf(value);
  const descriptor = value.descriptor as AnyDescriptor;
  const context = new Context(graph, value, node);
  switch (operation.operation) {
    case 'CREATE':
      if (!descriptor.create) throw unimplemented(descriptor, 'create', key);
      return descriptor.create(key, after, context);
    case 'UPDATE':
      if (!descriptor.update) throw unimplemented(descriptor, 'update', key);
      return descriptor.update(key, before, after, node.metadata, context);
    case 'DELETE':
      if (!descriptor.delete) throw unimplemented(descriptor, 'delete', key);
      return descriptor.delete(key, before, node.metadata, context);
  }
}

function unimplemented({ name }: AnyDescriptor, operation: string, key: string): Error {
  return new UnimplementedOperationError(`descriptor ${name} has no ${operation}`, { where: key });
}

class Context implements OperationContext {
  readonly #graph: Graph;
  readonly #value: PlannedValue;
  readonly #node: Node;

  constructor(graph: Graph, value: PlannedValue, node: Node) {
    this.#graph = graph;
    this.#value = value;
    this.#node = node;
  }

  metadata<M>(key: string): M {
    const { key: where } = this.#value;
    if (!this.#isDeclared(key))
      throw new UndeclaredReadError(`reads metadata of ${key} without a dependency on it`, {
        where,
      });
    const metadata = this.#graph.get(key)?.metadata;
    if (metadata === undefined) throw new NoMetadataError(`${key} has no metadata`, { where });
    return metadata as M;
  }

  metBy(label: string): string | undefined {
    const all = [...this.#value.goal.dependencies, ...this.#node.actualDependencies];
    const dependency = all.find((one) => one.label === label);
    if (!dependency)
      throw new UndeclaredReadError(`reads what meets ${label}, which is no dependency of it`, {
        where: this.#value.key,
      });
    for (const key of keysFor(this.#graph, dependency))
      if (this.#graph.get(key)?.actual !== undefined) return key;
    return undefined;
  }

  #isDeclared(key: string): boolean {
    const { baseKey, goal } = this.#value;
    if (key === baseKey) return true;
    if (goal.dependencies.some((one) => one.key === key)) return true;
    return this.#node.actualDependencies.some((one) => one.key === key);
  }
}

/** All keys in the graph that could meet the dependency. */
function* keysFor(graph: Graph, { key, anyOf }: Dependency): Generator<string, void, void> {
  if (key !== undefined) yield key;
  for (const prefix of anyOf?.prefixes ?? [])
    for (const one of graph.withPrefix(prefix))
      if (anyOf?.accepts?.(one.key) ?? true) yield one.key;
}
