/**
 * Runs examples through descriptors and records, for each descriptor, which requests it sent and
 * whether the backend's state showed what it created.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnyDescriptor, OperationContext } from '#kvscheduler/api/descriptor.ts';
import { Driver } from './compliance/driver.ts';
import type { Backend, Example } from './compliance/suite.ts';

export interface Observation {
  /** Names of the requests. */
  readonly requests: ReadonlySet<string>;
  /** Whether a create changed the state. */
  readonly isShown: boolean;
  /** Whether a value was changed in place. */
  readonly isUpdated: boolean;
}

class Recorder {
  readonly requests = new Set<string>();
  isShown = false;
  isUpdated = false;
}

/** @returns observations by name of the descriptors that created a value */
export async function observeDescriptors(
  backend: Backend,
  examples: readonly Example[],
): Promise<ReadonlyMap<string, Observation>> {
  const recorders = new Map<string, Recorder>();
  const recorderOf = (name: string): Recorder => {
    const known = recorders.get(name) ?? new Recorder();
    recorders.set(name, known);
    return known;
  };
  for (const { setup = [], value, change } of examples) {
    backend.cut(0);
    const descriptors = backend.descriptors().map((each) => observed(each, backend, recorderOf));
    const driver = new Driver(descriptors);
    for (const each of [...setup, value]) await driver.put(each.key, each.value);
    if (change) await driver.put(value.key, change.to);
    for (const { key } of [...driver.desired].reverse()) await driver.delete(key);
  }
  return recorders;
}

function observed(
  descriptor: AnyDescriptor,
  backend: Backend,
  recorderOf: (name: string) => Recorder,
): AnyDescriptor {
  const { name, create, update, delete: remove } = descriptor;
  const recorded = async <T>(operation: () => Promise<T>): Promise<T> => {
    const start = backend.requested.length;
    const result = await operation();
    for (const each of backend.requested.slice(start)) recorderOf(name).requests.add(each);
    return result;
  };
  return {
    ...descriptor,
    ...(create && {
      async create(key: string, value: object, ctx: OperationContext) {
        const recorder = recorderOf(name);
        const before = recorder.isShown ? undefined : await backend.state();
        const metadata: unknown = await recorded(() => create(key, value, ctx));
        recorder.isShown ||= !isDeepStrictEqual(before, await backend.state());
        return metadata;
      },
    }),
    ...(update && {
      update(key: string, before: object, after: object, metadata: unknown, ctx: OperationContext) {
        recorderOf(name).isUpdated = true;
        return recorded(() => update(key, before, after, metadata, ctx));
      },
    }),
    ...(remove && {
      delete: (key: string, value: object, metadata: unknown, ctx: OperationContext) =>
        recorded(() => remove(key, value, metadata, ctx)),
    }),
  };
}
