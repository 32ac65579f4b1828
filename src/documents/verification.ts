/** The differences that verification mode has found. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text } from './document.ts';

/** Internal data of a handler, or operations on VPP and Linux. */
const FoundDifference = Type.Object({
  SeqNum: Type.Integer(),
  FollowUpTo: orNull(Type.Integer(), 'The event after which it was found; null: unknown.'),
  Time: text('RFC 3339.'),
  Handler: Type.Optional(Type.String()),
  Before: Type.Optional(text('Internal data of the handler.')),
  After: Type.Optional(text('Internal data of the handler.')),
  Transaction: Type.Optional(Type.Integer()),
  Operations: Type.Optional(
    Type.Array(Type.Object({ Operation: Type.String(), Key: Type.String() }), {
      description: 'The first 50.',
    }),
  ),
  OperationCount: Type.Optional(Type.Integer()),
});
export type FoundDifference = DocumentOf<typeof FoundDifference>;

export const VerificationDocument = Type.Object({
  Enabled: Type.Boolean({ description: 'Whether verification mode is on.' }),
  Resyncs: Type.Integer({ description: 'Verification resyncs.' }),
  InternalDataDifferences: Type.Integer(),
  ConfigurationDifferences: Type.Integer(),
  Differences: Type.Array(FoundDifference, { description: 'The last 100.' }),
});
export type VerificationDocument = DocumentOf<typeof VerificationDocument>;
