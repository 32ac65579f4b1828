/** Values of a descriptor, desired, known or actual. */
import { Type } from 'typebox';
import type { DocumentOf } from '../document.ts';

const DumpedValue = Type.Object({
  Key: Type.String(),
  Value: Type.Unknown({ description: 'In the form that depends on the arguments.' }),
  Metadata: Type.Optional(Type.Unknown()),
  Origin: Type.Optional(Type.Integer({ description: '0: unknown, 1: from NB, 2: from SB.' })),
});

export const DumpedValues = Type.Array(DumpedValue);

export const DumpIndex = Type.Object({
  Descriptors: Type.Array(Type.String()),
  KeyPrefixes: Type.Array(Type.String()),
  Views: Type.Array(Type.String()),
});
export type DumpIndex = DocumentOf<typeof DumpIndex>;

/** The index without arguments. */
export const Dump = Type.Union([DumpIndex, DumpedValues]);
