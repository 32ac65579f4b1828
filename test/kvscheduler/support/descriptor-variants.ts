/** Random descriptors: the same southbound, described in other ways. */
import fc from 'fast-check';
import type { AnyDescriptor, RetrievedValue } from '#kvscheduler/api/descriptor.ts';

export interface DescriptorVariants {
  /** Those that can change a value in place; the others always make it anew. */
  readonly updating: readonly string[];
  /** Those whose values have no metadata. */
  readonly plain: readonly string[];
  /** One descriptor does the work of two: the second is gone, its keys are the first's. */
  readonly merged: readonly [string, string] | undefined;
  /** Who is read back after whom. */
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

/** Makes other descriptors of those of the southbound. */
export function withVariants(
  described: DescriptorVariants,
): (descriptors: readonly AnyDescriptor[]) => AnyDescriptor[] {
  return (usual) => {
    const [{ update } = {} as AnyDescriptor] = usual;
    const changed = usual.map((descriptor) => changedBy(described, descriptor, update));
    const { merged } = described;
    if (!merged) return changed;
    const [into, gone] = merged.map((name) => changed.find((one) => one.name === name));
    if (!into || !gone) throw new Error(`no descriptor ${merged.join(' or ')}`);
    return changed
      .filter((one) => one !== gone)
      .map((one) => (one === into ? join(into, gone) : one));
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

function join(into: AnyDescriptor, gone: AnyDescriptor): AnyDescriptor {
  const reads = [into.retrieve, gone.retrieve].filter((retrieve) => retrieve !== undefined);
  return {
    ...into,
    keyPrefixes: [...into.keyPrefixes, ...gone.keyPrefixes],
    retrieveDependencies: [],
    retrieve: async (correlate, context) => {
      const found: RetrievedValue[] = [];
      for (const read of reads) found.push(...(await read(correlate, context)));
      return found;
    },
  };
}
