/** Revisions of the values of the graph. The field names are those of the Go agent. */
import { Type } from 'typebox';
import { type DocumentOf, orNull, text, texts } from '../document.ts';
import { RecordedValue } from './value.ts';

export const flagNames = [
  'last-update',
  'error',
  'value-state',
  'unavailable',
  'descriptor',
  'derived',
] as const;
export type FlagName = (typeof flagNames)[number];

const flag = Type.Optional(Type.String());

const NodeTarget = Type.Object({
  Relation: Type.Enum(['depends-on', 'derives']),
  Label: Type.String(),
  ExpectedKey: text('Empty for a dependency that any of several keys meets.'),
  MatchingKeys: texts('Keys in the graph, available or not.'),
});
export type NodeTarget = DocumentOf<typeof NodeTarget>;

export const NodeRevision = Type.Object({
  Since: text('RFC 3339.'),
  Until: text('RFC 3339; the year 1: it has not ended.'),
  Key: Type.String(),
  Label: Type.String(),
  Value: orNull(RecordedValue, 'null: there is none.'),
  Flags: Type.Object({
    'last-update': flag,
    error: flag,
    'value-state': flag,
    unavailable: flag,
    descriptor: flag,
    derived: flag,
  }),
  MetadataFields: Type.Record(Type.String(), Type.Array(Type.String())),
  Targets: Type.Array(NodeTarget),
  TargetUpdateOnly: Type.Boolean({
    description: 'The node itself did not change; a related key was added or removed.',
  }),
});
export type NodeRevision = DocumentOf<typeof NodeRevision>;

/** The revisions of a key; with the argument time the one of that time, or null. */
export const KeyTimeline = Type.Union([Type.Array(NodeRevision), NodeRevision, Type.Null()]);

export const GraphSnapshot = Type.Array(NodeRevision);

export const FlagStats = Type.Object({
  TotalCount: Type.Integer(),
  PerValueCount: Type.Record(Type.String(), Type.Integer()),
});
export type FlagStats = DocumentOf<typeof FlagStats>;
