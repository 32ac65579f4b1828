import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { Tracer } from '#infra/log/tracer.ts';

const START = 1_700_000_000_000;

describe('a tracer', () => {
  it('has entries with index, start and duration, averages by name, and their sum', async () => {
    const clock = new ManualClock(START);
    const logged: unknown[] = [];
    const log = { ...silentLogger, debug: (...all: unknown[]) => void logged.push(all) };
    const tracer = new Tracer('loop', log, clock);
    for (const [entity, ms] of [
      ['read', 10],
      ['write', 2.5],
      ['read', 20],
    ] as const) {
      const start = clock.monotonic();
      await clock.advance(ms);
      tracer.logTime(entity, start);
    }
    assert.deepEqual(tracer.get(), {
      traced_entries: [
        { index: 1, msg_name: 'read', start_time: START * 1e6, duration: 10e6 },
        { index: 2, msg_name: 'write', start_time: (START + 10) * 1e6, duration: 2.5e6 },
        { index: 3, msg_name: 'read', start_time: (START + 12.5) * 1e6, duration: 20e6 },
      ],
      entry_stats: [
        { msg_name: 'read', average_duration: 15e6 },
        { msg_name: 'write', average_duration: 2.5e6 },
      ],
      overall_duration: 32.5e6,
    });
    assert.deepEqual(logged[1], [
      { tracer: 'loop', entity: 'write', ms: 2.5 },
      'time was measured',
    ]);
  });

  it('is empty after it was cleared, and continues its index', async () => {
    const tracer = new Tracer('loop', silentLogger, new ManualClock());
    tracer.logTime('read', 0);
    const trace = tracer.get();
    tracer.clear();
    assert.deepEqual(tracer.get(), { traced_entries: [], entry_stats: [], overall_duration: 0 });
    assert.equal(trace.traced_entries.length, 1, 'a trace that was read does not change');
    tracer.logTime('read', 0);
    assert.equal(tracer.get().traced_entries[0]!.index, 2);
  });
});
