/** The changes of a downstream resync: VPP and Linux compared with the desired state. */
import { Type } from 'typebox';
import { type DocumentOf, text } from '../document.ts';

const Difference = Type.Object({
  Key: Type.String(),
  Descriptor: Type.String(),
  Difference: Type.Enum(['missing', 'different', 'broken', 'stale', 'leftover'], {
    description:
      'missing: desired, but not there; different: there with another value; broken: there, but it does not work; stale: there and managed, but not desired; leftover: no value, but something that a resync removes or puts right.',
  }),
  Reason: Type.Optional(
    text('The fault, if it is broken or a leftover; the names of the fields, if it is different.'),
  ),
  Error: Type.Optional(text('Of the last operation, if it failed.')),
});
export type Difference = DocumentOf<typeof Difference>;

export const Drift = Type.Object({
  Differences: Type.Array(Difference, {
    description: 'By key. A derived value is only listed if its base is not.',
  }),
  Unread: Type.Array(Type.Object({ Descriptor: Type.String(), Error: Type.String() }), {
    description: 'Descriptors whose values could not be read.',
  }),
  Compared: Type.Integer({ description: 'Values that were compared.' }),
});
export type Drift = DocumentOf<typeof Drift>;
