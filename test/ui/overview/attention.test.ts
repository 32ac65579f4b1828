import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProcessedEvent } from '#documents/events.ts';
import { concernsOf } from '../../../ui/src/views/overview/attention.ts';
import { handlerCall, processedEvent } from '../events/event-samples.ts';

const SINCE = '2026-01-31T11:59:00Z';

function event(SeqNum: number, ErrorStr = '', Name = 'Add Pod default/web'): ProcessedEvent {
  return processedEvent(SeqNum, {
    ProcessingStart: SINCE,
    ProcessingEnd: SINCE,
    Name,
    Handlers: [handlerCall('ipam', { ErrorStr })],
  });
}

function problem(component: string, severity: 'error' | 'warning', text: string) {
  const remedy = `repair ${component}`;
  return { component, severity, text, code: 'CV_X', remedy, since: SINCE } as const;
}

const seen = (events: readonly ProcessedEvent[]) =>
  concernsOf(undefined, [], [], events).map(({ subject }) => subject);

describe('what needs attention', () => {
  it('is nothing when nothing has a problem', () => {
    assert.deepEqual(concernsOf({ problems: [] }, [], [], [event(1)]), []);
  });

  it('is nothing while nothing is known', () => {
    assert.deepEqual(concernsOf(undefined, [], [], []), []);
  });

  it('begins with errors, with their reasons, since when, what to do, and where to look', () => {
    const problems = [
      problem('policies', 'warning', 'permit less than defined: a/b'),
      problem('vpp', 'error', 'VPP disconnected'),
    ];
    const values = [
      { key: 'a', state: 'PENDING' },
      { key: 'b', state: 'FAILED', error: 'no such interface' },
    ] as const;
    const concerns = concernsOf({ problems }, [], values, [event(7, 'no address is free')]);
    assert.deepEqual(
      concerns.map(({ severity, subject, reason }) => [severity, subject, reason]),
      [
        ['error', 'vpp', 'VPP disconnected'],
        ['error', 'b', 'no such interface'],
        ['error', 'event 7: Add Pod default/web', 'no address is free'],
        ['warning', 'policies', 'permit less than defined: a/b'],
        ['waiting', 'a', 'waits for a dependency'],
      ],
    );
    const [vpp, value, failed, policies] = concerns;
    assert.equal(vpp!.since, Date.parse(SINCE));
    assert.deepEqual(vpp!.help, { remedy: 'repair vpp', component: 'vpp', code: 'CV_X' });
    assert.deepEqual([value!.view, value!.query], ['values', { key: 'b' }]);
    assert.equal(value!.help?.component, 'FAILED');
    assert.deepEqual([failed!.view, failed!.query], ['events', { event: '7' }]);
    assert.deepEqual([policies!.view, policies!.query], ['policies', { show: 'problems' }]);
  });

  it('is one cause once, with its key once', () => {
    const key = 'config/vpp/v2/interfaces/tap0';
    const error = `${key}: VPP answered -1`;
    const concerns = concernsOf(
      { problems: [problem('configuration', 'error', `1 value failed: ${error}`)] },
      [],
      [{ key, state: 'FAILED', error }],
      [event(7, `commit: ${error}`)],
    );
    assert.deepEqual(
      concerns.map(({ subject, reason }) => [subject, reason]),
      [[key, 'VPP answered -1']],
    );
  });

  it('is a policy of the cluster that is not enforced, an error if more is permitted', () => {
    const concerns = concernsOf(
      undefined,
      [
        { policy: 'sctp', code: 'NotCarried', reason: 'ports of SCTP' },
        { policy: 'web', code: 'NotConfigured', reason: 'VPP answered -1' },
      ],
      [],
      [],
    );
    assert.deepEqual(
      concerns.map(({ severity, subject, view }) => [severity, subject, view]),
      [
        ['error', 'policy web', 'policies'],
        ['warning', 'policy sctp', 'policies'],
      ],
    );
  });

  it('is a failed event until a resync has succeeded', () => {
    const failed = event(1, 'no address is free');
    const resync = { ...event(2, '', 'Healing Resync'), Method: 1 };
    const failedResync = { ...event(2, 'VPP is disconnected', 'Healing Resync'), Method: 1 };
    const others = Array.from({ length: 50 }, (_, n) => event(3 + n, '', `Add Pod default/p${n}`));
    assert.deepEqual(seen([failed, ...others]), ['event 1: Add Pod default/web']);
    assert.deepEqual(seen([failed, resync]), []);
    assert.equal(seen([failed, failedResync, ...others]).length, 2);
  });

  it('is of a pod the newest event alone, and none when that has succeeded', () => {
    const failed = [event(1, 'no address is free'), event(2, 'no address is free')];
    assert.deepEqual(seen(failed), ['event 2: Add Pod default/web']);
    assert.deepEqual(seen([...failed, event(3)]), []);
    assert.deepEqual(seen([...failed, event(3, '', 'Delete Pod default/web')]), []);
    assert.equal(seen([...failed, event(3, '', 'Kube State Change')]).length, 1);
  });

  it('has the five newest failed events, the newest first', () => {
    const events = [1, 2, 3, 4, 5, 6].map((n) => event(n, `error ${n}`, 'Kube State Change'));
    const reasons = concernsOf(undefined, [], [], events).map(({ reason }) => reason);
    assert.deepEqual(reasons, ['error 6', 'error 5', 'error 4', 'error 3', 'error 2']);
  });
});
