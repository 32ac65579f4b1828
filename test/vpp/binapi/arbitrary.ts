/** Random values for a layout, of the kind that the codec must take. */

import fc from 'fast-check';
import type { Layout, NumberBase, StructLayout } from '#vpp/binapi/codec/layout.ts';

const ranges: Readonly<Record<NumberBase, readonly [number, number]>> = {
  u8: [0, 0xff],
  i8: [-0x80, 0x7f],
  u16: [0, 0xffff],
  i16: [-0x8000, 0x7fff],
  u32: [0, 0xffffffff],
  i32: [-0x80000000, 0x7fffffff],
};

export function anyValue(layout: Layout): fc.Arbitrary<unknown> {
  switch (layout.kind) {
    case 'number': {
      const [min, max] = ranges[layout.base];
      return fc.oneof(fc.constantFrom(min, max, 0, 1), fc.integer({ min, max }));
    }
    case 'bigint':
      return layout.base === 'u64'
        ? fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
        : fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    case 'f64':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'bool':
      return fc.boolean();
    case 'bytes':
      return bytes(layout.length, layout.length);
    case 'text':
      return text(layout.length - 1);
    case 'longText':
      return text(300);
    case 'array':
      return fc.array(anyValue(layout.of), { minLength: layout.length, maxLength: layout.length });
    case 'counted':
      return isByte(layout.of) ? bytes(0, 20) : fc.array(anyValue(layout.of), { maxLength: 4 });
    case 'struct':
      return anyStruct(layout);
    case 'union':
      return bytes(layout.size, layout.size);
  }
}

/** Where a discriminator says which member of a union is meant, it says so here too. */
export function anyStruct(layout: StructLayout): fc.Arbitrary<Record<string, unknown>> {
  const fields = layout.fields.filter((field) => field.countOf === undefined);
  const plain = fc.record(
    Object.fromEntries(fields.map((field) => [field.name, anyValue(field.layout)])),
  );
  return fields.reduce((value, field) => {
    const { layout: of, discriminator } = field;
    if (of.kind !== 'union' || of.isBytes || discriminator === undefined) return value;
    const members = of.members.filter((member) => member.case !== undefined);
    if (members.length === 0) return value;
    const chosen = fc.oneof(
      ...members.map((member) =>
        anyValue(member.layout).map((inner) => ({
          [discriminator]: member.case,
          [field.name]: { [member.name]: inner },
        })),
      ),
    );
    return fc.tuple(value, chosen).map(([all, some]) => ({ ...all, ...some }));
  }, plain);
}

function isByte(layout: Layout): boolean {
  return layout.kind === 'number' && layout.base === 'u8';
}

function bytes(minLength: number, maxLength: number): fc.Arbitrary<Uint8Array> {
  // plain arrays of the same bytes: what fast-check makes may be a view with an offset
  return fc.uint8Array({ minLength, maxLength }).map((value) => Uint8Array.from(value));
}

function text(most: number): fc.Arbitrary<string> {
  const clean = (value: string) => value.replaceAll('\0', 'x');
  return fc.oneof(
    fc.string({ maxLength: most }).map(clean),
    fc
      .string({ unit: 'grapheme', maxLength: Math.min(most, 60) })
      .map(clean)
      .filter((value) => Buffer.byteLength(value) <= most),
  );
}
