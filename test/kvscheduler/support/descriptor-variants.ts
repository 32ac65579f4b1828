/** Random descriptors: the same southbound, described in other ways. */
import fc from 'fast-check';
import type { AnyDescriptor, RetrievedValue } from '#kvscheduler/api/descriptor.ts';

export interface DescriptorVariants {
  /** Descriptors that can update a value; the others always re-create it. */
  readonly updating: readonly string[];
  /** Descriptors whose values have no metadata. */
  readonly plain: readonly string[];
  /** The first descriptor also has the keys of the second, which does not exist. */
  readonly merged: readonly [string, string] | undefined;
  /** The first is read back after the second. */
  readonly readAfter: readonly [string, string] | undefined;
}

const names = ['alpha', 'beta', 'derived'];
const pairs = (...all: [string, string][]) =>
  fc.option(fc.constantFrom(...all), { nil: undefined });

export const descriptorVariants: fc.Arbitrary<DescriptorVariants> = fc.record({
  updating: fc.subarray(names),
  plain: fc.subarray(names),
  merged: pairs(['alpha', 'derived'], ['beta', 'derived'], ['alpha', 'beta']),
  readAfter: pairs(['alpha', 'beta'], ['beta', 'alpha']),
});

/** Changes the descriptors of the southbound. */
export function withVariants(
  described: DescriptorVariants,
): (descriptors: readonly AnyDescriptor[]) => AnyDescriptor[] {
  return (usual) => {
    const [{ update } = {} as AnyDescriptor] = usual;
    const changed = usual.map((descriptor) => changedBy(described, descriptor, update));
    const { merged } = described;
    if (!merged) return changed;
    const [into, removed] = merged.map((name) => changed.find((one) => one.name === name));
    if (!into || !removed) throw new Error(`no descriptor ${merged.join(' or ')}`);
    return changed
      .filter((one) => one !== removed)
      .map((one) => (one === into ? join(into, removed) : one));
  };
}

function changedBy(
  { updating, plain, readAfter }: DescriptorVariants,
  descriptor: AnyDescriptor,
  update: AnyDescriptor['update'],
): AnyDescriptor {
  const { name, create } = descriptor;
  const changed = { ...descriptor, retrieveDependencies: [] as string[] };
  if (readAfter?.[0] === name) changed.retrieveDependencies.push(readAfter[1]);
  delete changed.update;
  if (update && updating.includes(name)) changed.update = update;
  if (create && plain.includes(name))
    changed.create = async (...args) => {
      await create(...args);
    };
  return changed;
}

function join(into: AnyDescriptor, removed: AnyDescriptor): AnyDescriptor {
  const reads = [into.retrieve, removed.retrieve].filter((retrieve) => retrieve !== undefined);
  return {
    ...into,
    keyPrefixes: [...into.keyPrefixes, ...removed.keyPrefixes],
    retrieveDependencies: [],
    retrieve: async (correlate, context) => {
      const found: RetrievedValue[] = [];
      for (const read of reads) found.push(...(await read(correlate, context)));
      return found;
    },
  };
}
