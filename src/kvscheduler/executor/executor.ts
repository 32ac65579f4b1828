/**
 * Carries a plan out with a window of operations in flight. An operation starts when those that it
 * waits for have succeeded, the earliest in the plan first; what is behind a failure never starts.
 */

import type { Slices } from '#infra/clock/slices.ts';
import { errorText } from '#infra/errors/errors.ts';
import type { AnyDescriptor, OperationContext } from '../api/descriptor.ts';
import {
  NoMetadataError,
  UndeclaredReadError,
  UnimplementedOperationError,
} from '../api/errors.ts';
import type { Graph, Node } from '../graph/graph.ts';
import type { PlannedOperation } from '../planner/operation.ts';
import type { DescriptorCalls } from './descriptor-calls.ts';
import { MinHeap } from './min-heap.ts';

/** Undefined: not carried out, because it was behind a failure. */
export type Outcome = { readonly error?: Error } | undefined;

const done: Outcome = {};

export interface Effects {
  succeeded(operation: PlannedOperation, metadata: unknown): void;
  failed(operation: PlannedOperation, error: Error): void;
}

export interface ExecutorOptions {
  readonly graph: Graph;
  readonly window: number;
  readonly slices: Slices;
  readonly calls: DescriptorCalls;
  readonly effects: Effects;
}

/** Everything that can be done is done. @returns outcomes by place in the plan */
export async function execute(
  operations: readonly PlannedOperation[],
  options: ExecutorOptions,
): Promise<readonly Outcome[]> {
  const run = new Run(operations, options);
  await run.prepare();
  await run.upToLevel(Number.POSITIVE_INFINITY);
  return run.outcomes;
}

/**
 * All or nothing: level by level, where a level is what only needs the levels before it. The level
 * in which something fails is completed, the next is not begun.
 */
export async function executeByLevel(
  operations: readonly PlannedOperation[],
  options: ExecutorOptions,
): Promise<readonly Outcome[]> {
  const run = new Run(operations, options);
  await run.prepare();
  for (let level = 0; level <= run.lastLevel && run.failures === 0; level++)
    await run.upToLevel(level);
  return run.outcomes;
}

/** Instead of how many operations one waits for: it is behind a failure. */
const SKIPPED = -1;

class Run {
  readonly outcomes: Outcome[] = [];
  failures = 0;
  lastLevel = 0;
  readonly #operations: readonly PlannedOperation[];
  readonly #options: ExecutorOptions;
  /** By place: how many operations it still waits for, and its level. */
  readonly #waiting: Int32Array;
  readonly #levels: Int32Array;
  /** Who waits for whom, as chains: the first link of an operation, and the next of a link. */
  readonly #firstLink: Int32Array;
  #linkTo = new Int32Array();
  #nextLink = new Int32Array();
  /** When its call began. */
  readonly #began: Float64Array;
  /** Everything before it was launched, waits, or stands in the heap. */
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
    this.#waiting = new Int32Array(operations.length);
    this.#levels = new Int32Array(operations.length);
    this.#began = new Float64Array(operations.length);
    this.#firstLink = new Int32Array(operations.length).fill(-1);
  }

  async prepare(): Promise<void> {
    const { slices } = this.#options;
    let links = 0;
    for (const { waits } of this.#operations) links += waits.length;
    this.#linkTo = new Int32Array(links);
    this.#nextLink = new Int32Array(links);
    links = 0;
    for (let index = 0; index < this.#operations.length; index++) {
      if (slices.due()) await slices.turn();
      const { waits } = this.#operations[index] as PlannedOperation;
      this.outcomes.push(undefined);
      this.#waiting[index] = waits.length;
      let level = 0;
      for (const wait of waits) {
        level = Math.max(level, (this.#levels[wait] as number) + 1);
        this.#linkTo[links] = index;
        this.#nextLink[links] = this.#firstLink[wait] as number;
        this.#firstLink[wait] = links++;
      }
      this.#levels[index] = level;
      this.lastLevel = Math.max(this.lastLevel, level);
    }
  }

  /** Carries out what is up to this level, as far as what it waits for has succeeded. */
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

  /** Takes in an operation that waits for nothing any more. */
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

  #pump(): void {
    if (this.#pausing) return;
    const { window, slices } = this.#options;
    try {
      while (this.#inFlight < window) {
        if (slices.due()) {
          this.#pause();
          return;
        }
        const index = this.#next();
        if (index === undefined) break;
        this.#launch(index);
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

  #launch(index: number): void {
    const operation = this.#operations[index] as PlannedOperation;
    if (!operation.call) {
      this.#succeed(index, operation, undefined);
      return;
    }
    this.#inFlight++;
    this.#began[index] = this.#options.calls.begin();
    callDescriptor(this.#options.graph, operation).then(
      (metadata) => this.#settle(index, operation, true, metadata),
      (thrown: unknown) => this.#settle(index, operation, false, thrown),
    );
  }

  /** @param result metadata, or what was thrown */
  #settle(index: number, operation: PlannedOperation, isFine: boolean, result: unknown): void {
    this.#inFlight--;
    const { name } = operation.draft.descriptor as AnyDescriptor;
    this.#options.calls.end(name, methods[operation.operation], this.#began[index] as number);
    try {
      if (isFine) this.#succeed(index, operation, result);
      else this.#fail(index, operation, result);
    } catch (thrown) {
      this.#broken(thrown);
      return;
    }
    this.#pump();
  }

  #succeed(index: number, operation: PlannedOperation, metadata: unknown): void {
    this.outcomes[index] = done;
    this.#options.effects.succeeded(operation, metadata);
    for (let at = this.#firstLink[index] as number; at >= 0; at = this.#nextLink[at] as number)
      this.#countDown(this.#linkTo[at] as number);
  }

  #fail(index: number, operation: PlannedOperation, thrown: unknown): void {
    const error = thrown instanceof Error ? thrown : new Error(errorText(thrown));
    this.failures++;
    this.outcomes[index] = { error };
    this.#options.effects.failed(operation, error);
    this.#skipBehind(index);
  }

  /** What is behind a failure is not done; but what the southbound did by itself is done. */
  #skipBehind(failed: number): void {
    const path = [failed];
    for (let index = path.pop(); index !== undefined; index = path.pop())
      for (let at = this.#firstLink[index] as number; at >= 0; at = this.#nextLink[at] as number) {
        const next = this.#linkTo[at] as number;
        if (this.#operations[next]?.draft.foreign) this.#countDown(next);
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
    if (left === 1 && index < this.#cursor) this.#offer(index);
  }
}

const methods = { CREATE: 'Create', UPDATE: 'Update', DELETE: 'Delete' } as const;

function callDescriptor(graph: Graph, operation: PlannedOperation): Promise<unknown> {
  try {
    return call(graph, operation);
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

function call(graph: Graph, operation: PlannedOperation): Promise<unknown> {
  const { draft, before, after } = operation;
  const { key, live } = draft;
  const node = live as Node;
  const descriptor = draft.descriptor as AnyDescriptor;
  const context = new Context(graph, operation);
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
  return new UnimplementedOperationError(`${name} has no ${operation}`, { where: key });
}

class Context implements OperationContext {
  readonly #graph: Graph;
  readonly #operation: PlannedOperation;

  constructor(graph: Graph, operation: PlannedOperation) {
    this.#graph = graph;
    this.#operation = operation;
  }

  metadata<M>(key: string): M {
    const { draft } = this.#operation;
    if (!this.#isDeclared(key))
      throw new UndeclaredReadError(`reads ${key} without a dependency on it`, {
        where: draft.key,
      });
    const metadata = this.#graph.get(key)?.metadata;
    if (metadata === undefined)
      throw new NoMetadataError(`${key} has no metadata`, { where: draft.key });
    return metadata as M;
  }

  #isDeclared(key: string): boolean {
    const { draft } = this.#operation;
    if (key === draft.baseKey) return true;
    if (draft.dependencies.some((one) => one.key === key)) return true;
    return draft.live?.actualDependencies.some((one) => one.key === key) ?? false;
  }
}
