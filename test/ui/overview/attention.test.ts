import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProcessedEvent } from '#documents/events.ts';
import { concernsOf } from '../../../ui/src/views/overview/attention.ts';
import { handlerCall, processedEvent } from '../events/event-samples.ts';

const NOW = Date.parse('2026-01-31T12:00:00Z');

function event(SeqNum: number, end: string, ErrorStr = ''): ProcessedEvent {
  return processedEvent(SeqNum, {
    ProcessingStart: end,
    ProcessingEnd: end,
    Name: 'Add Pod default/web',
    Handlers: [handlerCall('ipam', { ErrorStr })],
  });
}

describe('what needs attention', () => {
  it('is nothing when all components are OK', () => {
    const PluginStatus = { vpp: { name: 'vpp', state: 1 } };
    assert.deepEqual(concernsOf({ PluginStatus }, [], [event(1, '2026-01-31T11:59:00Z')], NOW), []);
  });

  it('is nothing while nothing is known', () => {
    assert.deepEqual(concernsOf(undefined, [], [], NOW), []);
  });

  it('begins with errors, with their reasons, since when, and where to look', () => {
    const PluginStatus = {
      etcd: { name: 'etcd', last_change: NOW / 1_000 - 5 },
      vpp: { name: 'vpp', state: 2, error: 'VPP disconnected', last_change: NOW / 1_000 - 60 },
    };
    const values = [
      { key: 'a', state: 'PENDING' },
      { key: 'b', state: 'FAILED', error: 'no such interface' },
    ] as const;
    const failed = event(7, '2026-01-31T11:58:00Z', 'no address is free');
    const concerns = concernsOf({ PluginStatus }, values, [failed], NOW);
    assert.deepEqual(
      concerns.map(({ isError, subject, reason }) => [isError, subject, reason]),
      [
        [true, 'vpp', 'VPP disconnected'],
        [true, 'b', 'no such interface'],
        [true, 'event 7: Add Pod default/web', 'no address is free'],
        [false, 'etcd', 'starting'],
        [false, 'a', 'waits for a dependency'],
      ],
    );
    assert.equal(concerns[0]!.since, NOW - 60_000);
    assert.deepEqual([concerns[1]!.view, concerns[1]!.query], ['values', { key: 'b' }]);
    assert.deepEqual([concerns[2]!.view, concerns[2]!.query], ['events', { event: '7' }]);
  });

  it('is one cause once, with its key once', () => {
    const key = 'config/vpp/v2/interfaces/tap0';
    const error = `${key}: VPP answered -1`;
    const configuration = { name: 'configuration', state: 2, error: `1 value failed: ${error}` };
    const failed = event(7, '2026-01-31T11:58:00Z', `commit: ${error}`);
    const concerns = concernsOf(
      { PluginStatus: { configuration } },
      [{ key, state: 'FAILED', error }],
      [failed],
      NOW,
    );
    assert.deepEqual(
      concerns.map(({ subject, reason }) => [subject, reason]),
      [[key, 'VPP answered -1']],
    );
  });

  it('is no failed event that a resync has repaired since', () => {
    const failed = event(1, '2026-01-31T11:58:00Z', 'no address is free');
    const resync = { ...event(2, '2026-01-31T11:58:05Z'), Method: 1 };
    const failedResync = { ...event(2, '2026-01-31T11:58:05Z', 'VPP is disconnected'), Method: 1 };
    assert.deepEqual(concernsOf(undefined, [], [failed, resync], NOW), []);
    assert.equal(concernsOf(undefined, [], [failed, failedResync], NOW).length, 2);
  });

  it('has the five newest failed events of the last ten minutes, the newest first', () => {
    const events = [
      event(1, '2026-01-31T11:49:59Z', 'old'),
      ...[2, 3, 4, 5, 6, 7].map((n) => event(n, '2026-01-31T11:59:00Z', `error ${n}`)),
    ];
    const reasons = concernsOf(undefined, [], events, NOW).map(({ reason }) => reason);
    assert.deepEqual(reasons, ['error 7', 'error 6', 'error 5', 'error 4', 'error 3']);
  });
});
