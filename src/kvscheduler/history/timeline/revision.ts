import type { AnyDescriptor, Dependency } from '../../api/descriptor.ts';
import type { Value } from '../../api/transaction.ts';
import type { ValueState } from '../../api/value-state.ts';
import { deepEqual } from '../../graph/equality.ts';
import type { Node } from '../../graph/node.ts';
import { roughSize } from '../rough-size.ts';

const none: readonly never[] = [];

/** A node over a period of time. Its values are shared with the graph and never change. */
export interface Revision {
  /** Beginning, in microseconds since the epoch. */
  readonly since: number;
  /** End, in microseconds since the epoch; undefined if it has not ended. */
  until: number | undefined;
  /** The actual value, or else the desired one, or else the rejected one. */
  readonly value: Value | undefined;
  readonly state: ValueState;
  readonly available: boolean;
  readonly error: string | undefined;
  /** The last transaction that changed it or found it changed; negative: none. */
  readonly lastUpdate: number;
  readonly metadata: unknown;
  readonly dependencies: readonly Dependency[];
  readonly baseKey: string | undefined;
  /** The revision of the same key before this one, and the one after it. */
  before: Revision | undefined;
  after: Revision | undefined;
}

/** All kept revisions of one key, as a chain. */
export interface KeyRevisions {
  readonly key: string;
  readonly descriptor: AnyDescriptor | undefined;
  first: Revision | undefined;
  last: Revision | undefined;
}

export function revisionOf(node: Node, since: number, before: Revision | undefined): Revision {
  const { actual, desired, rejected } = node;
  let dependencies = actual === undefined ? node.desiredDependencies : node.actualDependencies;
  if (node.unmanaged) dependencies = none;
  return {
    since,
    until: undefined,
    value: actual ?? desired ?? rejected?.value,
    state: node.state,
    available: node.available,
    error: node.error?.message,
    lastUpdate: node.lastTxn,
    metadata: node.metadata,
    dependencies,
    baseKey: node.base?.key,
    before,
    after: undefined,
  };
}

/** Whether two revisions are equal except for their times. */
export function isSameRevision(a: Revision, b: Revision): boolean {
  return (
    a.state === b.state &&
    a.available === b.available &&
    a.error === b.error &&
    a.lastUpdate === b.lastUpdate &&
    a.baseKey === b.baseKey &&
    (a.metadata === b.metadata || deepEqual(a.metadata, b.metadata)) &&
    (a.value === b.value || deepEqual(a.value, b.value))
  );
}

/** Includes its metadata, whose size only its descriptor knows. */
const BYTES_OF_REVISION = 256;

/** Rough size in memory of a revision that has ended, without the data that a later one shares. */
export function sizeOfRevision({ value, error = '', after }: Revision): number {
  return BYTES_OF_REVISION + error.length + (value === after?.value ? 0 : roughSize(value));
}

/** The revision at this time. */
export function revisionAt({ last }: KeyRevisions, time: number): Revision | undefined {
  let revision = last;
  while (revision && revision.since > time) revision = revision.before;
  if (!revision || (revision.until !== undefined && revision.until <= time)) return undefined;
  return revision;
}

/** Oldest first. */
export function* revisionsOf({ first }: KeyRevisions): Generator<Revision, void, void> {
  for (let revision = first; revision; revision = revision.after) yield revision;
}
