/** Values of the scheduler as its documents show them. */
import { Type } from 'typebox';
import type { DocumentOf } from '../document.ts';

export const valueStates = [
  'NONEXISTENT',
  'MISSING',
  'UNIMPLEMENTED',
  'REMOVED',
  'CONFIGURED',
  'OBTAINED',
  'DISCOVERED',
  'PENDING',
  'INVALID',
  'FAILED',
  'RETRYING',
] as const;
export const ValueState = Type.Enum(valueStates);

export const Operation = Type.Enum(['CREATE', 'UPDATE', 'DELETE']);

/** The value in the form that the original gives it. */
export const RecordedValue = Type.Object({
  ProtoMsgName: Type.String({ description: 'Full protobuf name; empty if it is unknown.' }),
  ProtoMsgData: Type.Unknown(),
});
export type RecordedValue = DocumentOf<typeof RecordedValue>;
