/** The revisions of a value as steps: what each one changed. */
import type { NodeRevision } from '#documents/scheduler/timeline.ts';

export interface RevisionStep {
  /** RFC 3339. */
  readonly time: string;
  readonly state: string;
  readonly error: string | undefined;
  readonly transaction: string | undefined;
  readonly operation: 'first known' | 'added' | 'changed' | 'same value' | 'removed';
  /** null: none. */
  readonly before: unknown;
  readonly after: unknown;
}

/** Years before 1970 stand for a revision that has not ended. */
const isEnded = ({ Until }: NodeRevision): boolean => Date.parse(Until) > 0;

/**
 * @param revisions the last ones, the oldest first
 * @param hasEarlier whether the first of them may not be the first of all
 * @returns the newest first
 */
export function stepsOf(
  revisions: readonly NodeRevision[],
  hasEarlier: boolean,
): readonly RevisionStep[] {
  const steps: RevisionStep[] = [];
  let previous: NodeRevision | undefined;
  for (const revision of revisions) {
    if (previous && isEnded(previous) && previous.Until !== revision.Since)
      steps.push(removal(previous));
    const wasThere = previous !== undefined && previous.Until === revision.Since;
    const before = wasThere ? (previous?.Value?.ProtoMsgData ?? null) : null;
    const after = revision.Value?.ProtoMsgData ?? null;
    const isUnknown = !previous && hasEarlier;
    const isSame = JSON.stringify(before) === JSON.stringify(after);
    const { Since, Flags } = revision;
    steps.push({
      time: Since,
      state: Flags['value-state'] ?? '',
      error: Flags.error,
      transaction: Flags['last-update']?.replace(/^TXN-/, ''),
      operation: isUnknown
        ? 'first known'
        : !wasThere
          ? 'added'
          : isSame
            ? 'same value'
            : 'changed',
      before: isUnknown ? after : before,
      after,
    });
    previous = revision;
  }
  if (previous && isEnded(previous)) steps.push(removal(previous));
  return steps.reverse();
}

function removal({ Until, Value }: NodeRevision): RevisionStep {
  return {
    time: Until,
    state: 'NONEXISTENT',
    error: undefined,
    // The record of its removal is not part of its revisions.
    transaction: undefined,
    operation: 'removed',
    before: Value?.ProtoMsgData ?? null,
    after: null,
  };
}
