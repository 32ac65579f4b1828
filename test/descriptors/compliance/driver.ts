/** An agent's scheduler over a southbound, one operation at a time; whatever fails is thrown. */
import { systemClock } from '#infra/clock/system.ts';
import { silentLogger } from '#infra/log/log.ts';
import type {
  AnyDescriptor,
  KeyedValue,
  Leftover,
  OperationContext,
  RetrievedValue,
} from '#kvscheduler/api/descriptor.ts';
import type { TransactionMode } from '#kvscheduler/api/transaction.ts';
import { createScheduler } from '#kvscheduler/kv-scheduler.ts';
import type { Scheduler } from '#kvscheduler/scheduler.ts';

export interface Operation {
  readonly kind: 'create' | 'update' | 'delete';
  readonly key: string;
}

const kinds = { CREATE: 'create', UPDATE: 'update', DELETE: 'delete' } as const;

/** A value of unknown origin is managed if it is desired. */
export function isManaged(found: RetrievedValue, wanted: readonly KeyedValue[]): boolean {
  if (found.origin === 'from-NB') return true;
  return found.origin !== 'from-SB' && wanted.some(({ key }) => key === found.key);
}

export interface Found {
  readonly values: ReadonlyMap<string, RetrievedValue>;
  readonly leftovers: readonly Leftover[];
}

/** Everything that a new agent with these desired values finds; it changes nothing. */
export async function readBack(
  descriptors: readonly AnyDescriptor[],
  desired: readonly KeyedValue[],
): Promise<Found> {
  const values = new Map<string, RetrievedValue>();
  const leftovers: Leftover[] = [];
  const reading = descriptors.map((descriptor): AnyDescriptor => {
    const { retrieve } = descriptor;
    return {
      ...descriptor,
      ...(descriptor.create && { create: async () => undefined }),
      ...(descriptor.update && { update: async () => undefined }),
      ...(descriptor.delete && { delete: async () => undefined }),
      ...(retrieve && {
        async retrieve(correlate, context) {
          const leftover = (one: Leftover): void => {
            leftovers.push(one);
            context.leftover({ ...one, remove: async () => undefined });
          };
          const answer = await retrieve(correlate, { ...context, leftover });
          for (const each of answer) {
            if (values.has(each.key)) throw new Error(`${each.key} was retrieved twice`);
            values.set(each.key, each);
          }
          return answer;
        },
      }),
    };
  });
  const reader = new Driver(reading);
  await reader.resync(desired).catch((thrown: unknown) => {
    if (thrown instanceof RetrieveError) throw thrown;
  });
  for (const { key } of values.values())
    if (!reader.descriptorOf(key))
      throw new Error(`${key}, which was retrieved, has no descriptor`);
  return { values, leftovers };
}

class RetrieveError extends Error {}

export function descriptorOf(
  descriptors: readonly AnyDescriptor[],
  key: string,
): AnyDescriptor | undefined {
  return descriptors.find(
    ({ keyPrefixes, ownsKey }) =>
      keyPrefixes.some((prefix) => key.startsWith(prefix)) && (ownsKey?.(key) ?? true),
  );
}

export class Driver {
  readonly #scheduler: Scheduler;
  readonly #desired = new Map<string, object>();
  /** Successful operations. */
  readonly log: Operation[] = [];
  /** Called around every create, to see whether a failed one left something. */
  aroundCreate: <T>(key: string, create: () => Promise<T>) => Promise<T> = (_key, create) =>
    create();

  constructor(descriptors: readonly AnyDescriptor[]) {
    this.#scheduler = createScheduler({
      descriptors: descriptors.map((each) => this.#withAroundCreate(each)),
      clock: systemClock,
      log: silentLogger,
      window: 1,
    });
  }

  /** Keys of the pending values, base and derived. */
  get pending(): readonly string[] {
    return this.#scheduler
      .statuses()
      .flatMap(({ value, derived_values = [] }) => [value, ...derived_values])
      .filter(({ state }) => state === 'PENDING')
      .map(({ key }) => key);
  }

  get desired(): readonly KeyedValue[] {
    return [...this.#desired].map(([key, value]) => ({ key, value }));
  }

  /** Keys of the actual values. */
  get keys(): readonly string[] {
    return [...this.#scheduler.graph.all()]
      .filter(({ actual }) => actual !== undefined)
      .map(({ key }) => key);
  }

  metadata<M>(key: string): M | undefined {
    return this.#scheduler.graph.peek(key)?.metadata as M | undefined;
  }

  descriptorOf(key: string): AnyDescriptor | undefined {
    return descriptorOf(this.#scheduler.descriptors, key);
  }

  async put(key: string, value: object): Promise<void> {
    if (!this.descriptorOf(key)) throw new Error(`no descriptor for ${key}`);
    this.#desired.set(key, value);
    await this.#commit('update', new Map([[key, value]]));
  }

  async delete(key: string): Promise<void> {
    this.#desired.delete(key);
    await this.#commit('update', new Map([[key, null]]));
  }

  /** Deletes managed values that are not desired, updates and creates the others. */
  async resync(desired: readonly KeyedValue[]): Promise<void> {
    this.#desired.clear();
    for (const { key, value } of desired) this.#desired.set(key, value);
    await this.#commit('full-resync', this.#desired);
  }

  async #commit(mode: TransactionMode, values: ReadonlyMap<string, object | null>): Promise<void> {
    const request = { description: mode, mode, values, onFailure: 'best-effort' as const };
    const { seqNum, failures } = await this.#scheduler.commit(request);
    const { Executed = [], RetrieveErrors } = this.#scheduler.record(seqNum) ?? {};
    for (const { Operation, Key, NOOP, NewErrMsg } of Executed)
      if (!NOOP && NewErrMsg === undefined) this.log.push({ kind: kinds[Operation], key: Key });
    if (RetrieveErrors) throw new RetrieveError(RetrieveErrors.join('\n'));
    if (failures[0]) throw failures[0].error;
  }

  #withAroundCreate(descriptor: AnyDescriptor): AnyDescriptor {
    const { create } = descriptor;
    if (!create) return descriptor;
    return {
      ...descriptor,
      create: (key: string, value: object, context: OperationContext) =>
        this.aroundCreate(key, () => create(key, value, context)),
    };
  }
}
