/**
 * Carries a plan out with a window of operations in flight. An operation starts when those that it
 * waits for have succeeded, the earliest in the plan first; what is behind a failure never starts.
 */
import { errorText } from '#infra/errors/errors.ts';
import type { AnyDescriptor, OperationContext } from './api.ts';
import { ErrNoMetadata, ErrUndeclaredRead, ErrUnimplementedOperation } from './errors.ts';
import type { Graph, Node } from './graph.ts';
import { MinHeap } from './heap.ts';
import type { PlannedOperation } from './plan/operation.ts';
import type { Slices } from './slices.ts';

/** Undefined: not carried out, because it was behind a failure. */
export type Outcome = { readonly error?: Error } | undefined;

export interface Effects {
  succeeded(operation: PlannedOperation, metadata: unknown): void;
  failed(operation: PlannedOperation, error: Error): void;
}

export interface ExecutorOptions {
  readonly graph: Graph;
  readonly window: number;
  readonly slices: Slices;
  readonly effects: Effects;
}

/** Everything that can be done is done. @returns outcomes by place in the plan */
export async function execute(
  operations: readonly PlannedOperation[],
  options: ExecutorOptions,
): Promise<Outcome[]> {
  const run = new Run(operations, options);
  await run.start(operations.map((_, index) => index));
  return run.outcomes;
}

/**
 * All or nothing: level by level, where a level is what only needs the levels before it. The level
 * in which something fails is completed, the next is not begun.
 */
export async function executeByLevel(
  operations: readonly PlannedOperation[],
  options: ExecutorOptions,
): Promise<Outcome[]> {
  const run = new Run(operations, options);
  for (const level of levelsOf(operations)) {
    await run.start(level);
    if (run.failures > 0) break;
  }
  return run.outcomes;
}

function levelsOf(operations: readonly PlannedOperation[]): number[][] {
  const levels: number[][] = [];
  const levelOf: number[] = [];
  operations.forEach(({ waits }, index) => {
    const level = waits.reduce((most, wait) => Math.max(most, (levelOf[wait] as number) + 1), 0);
    levelOf.push(level);
    const others = levels[level];
    if (others) others.push(index);
    else levels[level] = [index];
  });
  return levels;
}

class Run {
  readonly outcomes: Outcome[];
  failures = 0;
  readonly #operations: readonly PlannedOperation[];
  readonly #options: ExecutorOptions;
  readonly #allowed = new Set<number>();
  readonly #waiting: number[];
  readonly #behind: (number[] | undefined)[];
  readonly #ready = new MinHeap();
  #inFlight = 0;
  #pausing = false;
  #finished: () => void = () => undefined;
  #broken: (error: unknown) => void = () => undefined;

  constructor(operations: readonly PlannedOperation[], options: ExecutorOptions) {
    this.#operations = operations;
    this.#options = options;
    this.outcomes = new Array(operations.length).fill(undefined);
    this.#waiting = operations.map(({ waits }) => waits.length);
    this.#behind = new Array(operations.length).fill(undefined);
    operations.forEach(({ waits }, index) => {
      for (const wait of waits) {
        const behind = this.#behind[wait];
        if (behind) behind.push(index);
        else this.#behind[wait] = [index];
      }
    });
  }

  /** Carries out these operations as far as what they wait for has succeeded. */
  start(indexes: readonly number[]): Promise<void> {
    for (const index of indexes) {
      this.#allowed.add(index);
      if (this.#waiting[index] === 0) this.#ready.push(index);
    }
    return new Promise((resolve, reject) => {
      this.#finished = resolve;
      this.#broken = reject;
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#pausing) return;
    const { window, slices } = this.#options;
    while (this.#inFlight < window && this.#ready.size > 0) {
      if (slices.due()) {
        this.#pausing = true;
        slices.turn().then(() => {
          this.#pausing = false;
          this.#pump();
        }, this.#broken);
        return;
      }
      this.#launch(this.#ready.pop() as number);
    }
    if (this.#inFlight === 0 && this.#ready.size === 0) this.#finished();
  }

  #launch(index: number): void {
    const operation = this.#operations[index] as PlannedOperation;
    if (!operation.call) {
      this.#succeed(index, operation, undefined);
      return;
    }
    this.#inFlight++;
    callDescriptor(this.#options.graph, operation).then(
      (metadata) => this.#settle(() => this.#succeed(index, operation, metadata)),
      (thrown: unknown) => this.#settle(() => this.#fail(index, operation, thrown)),
    );
  }

  #settle(note: () => void): void {
    this.#inFlight--;
    try {
      note();
      this.#pump();
    } catch (thrown) {
      this.#broken(thrown);
    }
  }

  #succeed(index: number, operation: PlannedOperation, metadata: unknown): void {
    this.outcomes[index] = {};
    this.#options.effects.succeeded(operation, metadata);
    for (const next of this.#behind[index] ?? []) {
      const left = (this.#waiting[next] as number) - 1;
      this.#waiting[next] = left;
      if (left === 0 && this.#allowed.has(next)) this.#ready.push(next);
    }
  }

  #fail(index: number, operation: PlannedOperation, thrown: unknown): void {
    const error = thrown instanceof Error ? thrown : new Error(errorText(thrown));
    this.failures++;
    this.outcomes[index] = { error };
    this.#options.effects.failed(operation, error);
  }
}

async function callDescriptor(graph: Graph, operation: PlannedOperation): Promise<unknown> {
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
  return new ErrUnimplementedOperation(`${name} has no ${operation}`, { where: key });
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
      throw new ErrUndeclaredRead(`reads ${key} without a dependency on it`, { where: draft.key });
    const metadata = this.#graph.get(key)?.metadata;
    if (metadata === undefined)
      throw new ErrNoMetadata(`${key} has no metadata`, { where: draft.key });
    return metadata as M;
  }

  #isDeclared(key: string): boolean {
    const { draft } = this.#operation;
    if (key === draft.baseKey) return true;
    if (draft.dependencies.some((one) => one.key === key)) return true;
    return draft.live?.actualDependencies.some((one) => one.key === key) ?? false;
  }
}
