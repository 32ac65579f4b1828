/** One value with its relations. */
import { Type } from 'typebox';
import { type DocumentOf, text, texts } from '../document.ts';
import { Operation, ValueState } from './value.ts';

const RelatedValue = Type.Object({ key: Type.String(), state: ValueState });
export type RelatedValue = DocumentOf<typeof RelatedValue>;

const ValueDependency = Type.Object({
  label: Type.String(),
  key: Type.Optional(text('The key that meets it.')),
  prefixes: Type.Optional(texts('A key with one of these meets it, too.')),
  isSelective: Type.Optional(
    Type.Boolean({ description: 'Not every key with these prefixes meets it.' }),
  ),
  isMet: Type.Boolean(),
  values: Type.Array(RelatedValue, { description: 'Those that meet it, up to 50.' }),
  hasMore: Type.Boolean({ description: 'More values meet it.' }),
  unavailable: Type.Array(RelatedValue, {
    description: 'While it is not met: some values that would meet it if they were available.',
  }),
});
export type ValueDependency = DocumentOf<typeof ValueDependency>;

const DependentValue = Type.Object({
  key: Type.String(),
  state: ValueState,
  labels: texts('Of its dependencies on this value.'),
  isWaiting: Type.Boolean({ description: 'It is pending until this value is available.' }),
});
export type DependentValue = DocumentOf<typeof DependentValue>;

const Retries = Type.Object({
  started: Type.Integer({ description: 'Number of retries that have started.' }),
  maximum: Type.Integer({ description: '0: without limit.' }),
  nextAt: Type.Optional(text('RFC 3339; absent: it is not retried any more.')),
  firstTransaction: Type.Integer({ description: 'In which it failed first.' }),
});
export type Retries = DocumentOf<typeof Retries>;

export const SingleValue = Type.Object({
  key: Type.String(),
  state: ValueState,
  lastValidState: Type.Optional(ValueState),
  descriptor: Type.Optional(Type.String()),
  type: Type.Optional(text('Full protobuf name.')),
  lastOperation: Type.Optional(Operation),
  lastTransaction: Type.Optional(
    Type.Integer({ description: 'The last that changed it, or found it changed.' }),
  ),
  error: Type.Optional(Type.String()),
  invalidFields: Type.Array(Type.String()),
  waitsFor: texts('Of a pending value: sentences.'),
  retries: Type.Optional(Retries),
  wantedBy: texts(
    'Groups of values of the event handlers that set it, as `ipv4net/base`; the last one applies. Then the sources of external configuration, which are merged over it, as `external/db`.',
  ),
  isAsDesired: Type.Boolean({ description: 'The actual value is the desired one.' }),
  desired: Type.Unknown({ description: 'JSON of the desired value, or null.' }),
  actual: Type.Unknown({ description: 'JSON of the value in VPP or Linux, or null.' }),
  rejected: Type.Optional(
    Type.Object(
      { value: Type.Unknown(), error: Type.String() },
      { description: 'The value that was set last, while it is rejected.' },
    ),
  ),
  metadata: Type.Unknown({ description: 'Data of the descriptor, or null.' }),
  derivedFrom: Type.Optional(RelatedValue),
  derived: Type.Object({ total: Type.Integer(), values: Type.Array(RelatedValue) }),
  dependencies: Type.Object({ total: Type.Integer(), list: Type.Array(ValueDependency) }),
  dependents: Type.Object({
    total: Type.Integer({ description: 'Number of values with a dependency that this key meets.' }),
    values: Type.Array(DependentValue),
  }),
});
export type SingleValue = DocumentOf<typeof SingleValue>;
