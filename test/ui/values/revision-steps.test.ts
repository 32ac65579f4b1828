import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeRevision } from '#documents/scheduler/timeline.ts';
import { stepsOf } from '../../../ui/src/views/values/revision-steps.ts';

const NOT_ENDED = '0001-01-01T00:00:00Z';

function revision(
  since: number,
  until: number | undefined,
  data: unknown,
  flags: NodeRevision['Flags'] = { 'value-state': 'CONFIGURED', 'last-update': `TXN-${since}` },
): NodeRevision {
  const at = (second: number) => `2026-01-01T00:00:0${second}Z`;
  return {
    Since: at(since),
    Until: until === undefined ? NOT_ENDED : at(until),
    Key: 'a',
    Label: 'a',
    Value: data === null ? null : { ProtoMsgName: 'a', ProtoMsgData: data },
    Flags: flags,
    MetadataFields: {},
    Targets: [],
    TargetUpdateOnly: false,
  };
}

function linesOf(revisions: readonly NodeRevision[], hasEarlier = false): string[] {
  return stepsOf(revisions, hasEarlier).map(
    ({ time, operation, state, transaction }) =>
      `${time.slice(-3, -1)} ${operation} ${state} ${transaction ?? '-'}`,
  );
}

describe('history of a value', () => {
  it('says what each revision changed, the newest first', () => {
    const failed = { 'value-state': 'FAILED', 'last-update': 'TXN-3', error: 'no' };
    const steps = [
      revision(1, 2, { v: 1 }),
      revision(2, 3, { v: 2 }),
      revision(3, undefined, { v: 2 }, failed),
    ];
    assert.deepEqual(linesOf(steps), [
      '03 same value FAILED 3',
      '02 changed CONFIGURED 2',
      '01 added CONFIGURED 1',
    ]);
    assert.equal(stepsOf(steps, false)[0]?.error, 'no');
    assert.deepEqual(stepsOf(steps, false)[1]?.before, { v: 1 });
  });

  it('says when it was removed, and added again', () => {
    assert.deepEqual(linesOf([revision(1, 2, { v: 1 }), revision(4, 5, { v: 1 })]), [
      '05 removed NONEXISTENT -',
      '04 added CONFIGURED 4',
      '02 removed NONEXISTENT -',
      '01 added CONFIGURED 1',
    ]);
  });

  it('does not guess what was before the first kept revision', () => {
    assert.deepEqual(linesOf([revision(1, undefined, { v: 1 })], true), [
      '01 first known CONFIGURED 1',
    ]);
    assert.deepEqual(linesOf([]), []);
  });
});
