/** A revision of a node as REST shows it; the field names are those of the Go agent. */
import type { FlagName, NodeRevision, NodeTarget } from '#documents/scheduler/timeline.ts';
import type { Dependency } from '../../api/descriptor.ts';
import { RecordedValue } from '../record.ts';
import { timeText } from '../time.ts';
import type { KeyRevisions, Revision } from './revision.ts';

export interface RecordedNode extends NodeRevision {
  readonly Value: RecordedValue | null;
}

const ZERO_TIME = '0001-01-01T00:00:00Z';

/** The keys that were in the graph at some time. */
export interface Presence {
  has(key: string): boolean;
  /** In order. */
  withPrefix(prefix: string): readonly string[];
  /** Keys of the derived values of a value, in order. */
  derivedFrom(key: string): readonly string[];
}

export interface Span {
  readonly since: number;
  readonly until: number | undefined;
  readonly targets: readonly NodeTarget[];
  readonly targetUpdateOnly: boolean;
}

export function recordedNode(
  { key, descriptor }: KeyRevisions,
  revision: Revision,
  { since, until, targets, targetUpdateOnly }: Span,
): RecordedNode {
  const { value, metadata } = revision;
  return {
    Since: microsText(since),
    Until: until === undefined ? ZERO_TIME : microsText(until),
    Key: key,
    Label: descriptor?.label?.(key) ?? key,
    Value: value === undefined ? null : new RecordedValue(descriptor, value),
    Flags: flagsOf(revision, descriptor?.name),
    MetadataFields: (metadata !== undefined && descriptor?.metadataFields?.(metadata)) || {},
    Targets: targets,
    TargetUpdateOnly: targetUpdateOnly,
  };
}

export function flagsOf(
  { lastUpdate, error, state, available, baseKey }: Revision,
  descriptor: string | undefined,
): Partial<Record<FlagName, string>> {
  return {
    ...(lastUpdate >= 0 && { 'last-update': `TXN-${lastUpdate}` }),
    ...(error !== undefined && { error }),
    'value-state': state,
    ...(!available && { unavailable: '' }),
    ...(descriptor !== undefined && { descriptor }),
    ...(baseKey !== undefined && { derived: baseKey }),
  };
}

/** The relations of a node. */
export function targetsOf(
  key: string,
  { dependencies }: Revision,
  presence: Presence,
): NodeTarget[] {
  const needed = dependencies.map(
    (dependency): NodeTarget => ({
      Relation: 'depends-on',
      Label: dependency.label,
      ExpectedKey: dependency.key ?? '',
      MatchingKeys: matching(dependency, presence),
    }),
  );
  const derived = presence.derivedFrom(key).map(
    (child): NodeTarget => ({
      Relation: 'derives',
      Label: child,
      ExpectedKey: child,
      MatchingKeys: [child],
    }),
  );
  return [...needed, ...derived];
}

function matching({ key, anyOf }: Dependency, presence: Presence): string[] {
  const keys = new Set<string>();
  if (key !== undefined && presence.has(key)) keys.add(key);
  for (const prefix of anyOf?.prefixes ?? [])
    for (const one of presence.withPrefix(prefix)) if (anyOf?.accepts?.(one) ?? true) keys.add(one);
  return [...keys];
}

function microsText(micros: number): string {
  return timeText(micros / 1000);
}
