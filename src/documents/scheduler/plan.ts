/** The plan of a change on the current graph. */
import { Type } from 'typebox';
import { type DocumentOf, texts } from '../document.ts';
import { RecordedOperation } from './transaction-record.ts';

/** Body of the request. */
export const PlanRequest = Type.Object({
  mode: Type.Enum(['update', 'resync']),
  values: Type.Record(
    Type.String(),
    Type.Union([Type.Object({ type: Type.String(), value: Type.Object({}) }), Type.Null()]),
    { description: 'Values by key; null deletes.' },
  ),
});

export const Plan = Type.Object({
  Operations: Type.Array(RecordedOperation, {
    description:
      'In the order in which a serial scheduler would execute them. At the end are those that follow when the key of a derived value becomes free that another value derives, too.',
  }),
  Refused: Type.Array(Type.Object({ Key: Type.String(), Error: Type.String() }), {
    description: 'Values that would be rejected.',
  }),
  Unknown: texts(
    'Values that would be read back first, because the outcome of their last operation is unknown. The plan does not change them.',
  ),
});
export type Plan = DocumentOf<typeof Plan>;
