/** Leftovers as nodes of the graph: values of a descriptor that only deletes. */
import type { AnyDescriptor, KvDescriptor, Leftover } from '../api/descriptor.ts';

const PREFIX = 'leftover/';

const descriptor: KvDescriptor<Leftover, undefined> = {
  name: 'leftover',
  keyPrefixes: [PREFIX],
  typeName: 'google.protobuf.StringValue',
  toJson: ({ what }) => what,
  dependencies: (_key, { of }) => (of === undefined ? [] : [{ label: 'is-part-of', key: of }]),
  delete: async (_key, leftover) => {
    await leftover.remove();
  },
};

export const leftoverDescriptor: AnyDescriptor = descriptor;

/** The prefix of all leftovers of a descriptor. */
export function leftoverPrefix({ name }: AnyDescriptor): string {
  return `${PREFIX}${name}/`;
}

/** Another southbound has its own leftovers, which its first resync finds: a late retry changes nothing there. */
export function ofIncarnation(
  { incarnation }: AnyDescriptor,
  found: unknown,
  leftover: Leftover,
): Leftover {
  if (!incarnation) return leftover;
  return {
    ...leftover,
    async remove() {
      if (incarnation() === found) await leftover.remove();
    },
  };
}

/** Undefined for a value. */
export function leftoverOf(node: {
  readonly descriptor: AnyDescriptor | undefined;
  readonly actual: object | undefined;
}): Leftover | undefined {
  return node.descriptor === leftoverDescriptor ? (node.actual as Leftover | undefined) : undefined;
}
