/**
 * Runs examples through descriptors and records, for each descriptor, which requests it sent, whether
 * the backend's state showed what it created, and which examples failed.
 */
import { isDeepStrictEqual } from 'node:util';
import { errorText } from '#infra/errors/errors.ts';
import type {
  AnyDescriptor,
  KeyedValue,
  OperationContext,
  RetrieveContext,
} from '#kvscheduler/api/descriptor.ts';
import { VppRefusedError } from '#vpp/binapi/retval-error.ts';
import { Driver, readBack } from './compliance/driver.ts';
import type { Backend, Example } from './compliance/suite.ts';

export interface Observation {
  /** Names of the requests. */
  readonly requests: ReadonlySet<string>;
  /** Names of the dumps and reading requests of `retrieve`; empty on Linux. */
  readonly reads: ReadonlySet<string>;
  /** Whether an example creates a value of the descriptor. */
  readonly isCreated: boolean;
  /** Whether a create changed the state. */
  readonly isShown: boolean;
  /** Whether a value was changed in place. */
  readonly isUpdated: boolean;
  /** Examples that this descriptor could not carry out, with the error. */
  readonly failures: readonly string[];
}

export interface Observations {
  /** By name of the descriptor. */
  readonly byDescriptor: ReadonlyMap<string, Observation>;
  /** Failed examples whose key has no descriptor. */
  readonly withoutDescriptor: readonly string[];
}

class Recorder {
  readonly requests = new Set<string>();
  readonly reads = new Set<string>();
  isCreated = false;
  isShown = false;
  isUpdated = false;
  readonly failures: string[] = [];
}

/** VPP's error number for a message without a handler in the simulation. */
const NOT_IMPLEMENTED = -9;

/** An example that fails is recorded under the descriptor that failed, or that owns its key. */
export async function observeDescriptors(
  backend: Backend,
  examples: readonly Example[],
): Promise<Observations> {
  const recorders = new Map<string, Recorder>();
  const recorderOf = (name: string): Recorder => {
    const known = recorders.get(name) ?? new Recorder();
    recorders.set(name, known);
    return known;
  };
  const withoutDescriptor: string[] = [];
  for (const { name, setup = [], value, change } of examples) {
    backend.cut(0);
    let failed: string | undefined;
    const onFailure = (descriptor: string) => {
      failed ??= descriptor;
    };
    const descriptors = backend
      .descriptors()
      .map((each) => observed(each, backend, recorderOf, onFailure));
    const driver = new Driver(descriptors);
    let current = value.key;
    try {
      for (const { key, value: desired } of [...setup, value]) {
        current = key;
        await driver.put(key, desired);
      }
      if (change) await driver.put(value.key, change.to);
      await readBack(descriptors, driver.desired);
      for (const { key } of [...driver.desired].reverse()) {
        current = key;
        await driver.delete(key);
      }
    } catch (error) {
      const owner = failed ?? driver.descriptorOf(current)?.name;
      if (owner === undefined) withoutDescriptor.push(name);
      else recorderOf(owner).failures.push(`example ${name}: ${textOf(error)}`);
      // what remains must not fail the next example
      await new Driver(backend.descriptors()).resync([]).catch(() => undefined);
    }
  }
  return { byDescriptor: recorders, withoutDescriptor };
}

function textOf(error: unknown): string {
  const text = errorText(error);
  return error instanceof VppRefusedError && error.retval === NOT_IMPLEMENTED
    ? `${text}: list its handlers in src/simulator/vpp/vpp-process.ts`
    : text;
}

function observed(
  descriptor: AnyDescriptor,
  backend: Backend,
  recorderOf: (name: string) => Recorder,
  onFailure: (name: string) => void,
): AnyDescriptor {
  const { name, create, update, delete: remove, retrieve } = descriptor;
  const recorded = async <T>(operation: () => Promise<T>): Promise<T> => {
    const start = backend.requested.length;
    try {
      return await operation();
    } catch (error) {
      onFailure(name);
      throw error;
    } finally {
      for (const each of backend.requested.slice(start)) recorderOf(name).requests.add(each);
    }
  };
  return {
    ...descriptor,
    ...(create && {
      async create(key: string, value: object, ctx: OperationContext) {
        const recorder = recorderOf(name);
        recorder.isCreated = true;
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
    ...(retrieve && {
      async retrieve(correlate: readonly KeyedValue[], ctx: RetrieveContext) {
        const start = backend.read?.length ?? 0;
        const values = await recorded(() => retrieve(correlate, ctx));
        for (const each of backend.read?.slice(start) ?? []) recorderOf(name).reads.add(each);
        return values;
      },
    }),
  };
}
