import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { type Component, Lifecycle, StartAbandonedError } from '#infra/process/lifecycle.ts';

const limits = { startMs: 1000, stopMs: 100 };

function traced(name: string, trace: string[], behavior: Partial<Component> = {}): Component {
  const step = (what: 'init' | 'afterInit' | 'close') => async () => {
    trace.push(`${name}.${what}`);
    await behavior[what]?.();
  };
  return { name, init: step('init'), afterInit: step('afterInit'), close: step('close') };
}

describe('life cycle', () => {
  it('starts in order and stops in reverse', async () => {
    const trace: string[] = [];
    const parts = [traced('a', trace), { name: 'none' }, traced('b', trace)];
    const lifecycle = new Lifecycle(parts, limits, new ManualClock(), silentLogger);
    await lifecycle.start();
    await lifecycle.stop();
    await lifecycle.stop();
    assert.deepEqual(trace, [
      'a.init',
      'b.init',
      'a.afterInit',
      'b.afterInit',
      'b.close',
      'a.close',
    ]);
  });

  it('closes the started components when one fails, also after an error of a close', async () => {
    const trace: string[] = [];
    const fail = () => {
      throw new Error('no');
    };
    const parts = [
      traced('a', trace),
      traced('b', trace, { close: fail }),
      traced('c', trace, { init: fail }),
    ];
    const lifecycle = new Lifecycle(parts, limits, new ManualClock(), silentLogger);
    await assert.rejects(lifecycle.start(), /^Error: no$/);
    assert.deepEqual(trace, ['a.init', 'b.init', 'c.init', 'b.close', 'a.close']);
  });

  it('abandons a start when it is stopped: the current step ends, no other one runs', async () => {
    const trace: string[] = [];
    const opened = Promise.withResolvers<void>();
    const parts = [
      traced('a', trace, { close: () => opened.resolve() }),
      traced('slow', trace, { init: () => opened.promise }),
      traced('c', trace),
    ];
    const lifecycle = new Lifecycle(parts, limits, new ManualClock(), silentLogger);
    const start = lifecycle.start();
    start.catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    await lifecycle.stop();
    assert.deepEqual(trace, ['a.init', 'slow.init', 'a.close', 'slow.close']);
    await assert.rejects(start, StartAbandonedError);
    await assert.rejects(lifecycle.start(), StartAbandonedError);
    assert.equal(trace.length, 4);
  });

  it('does not wait forever for a start that cannot be abandoned', async () => {
    const clock = new ManualClock();
    const hang = () => new Promise<void>(() => undefined);
    const parts = [traced('slow', [], { init: hang })];
    const lifecycle = new Lifecycle(parts, { startMs: 60_000, stopMs: 100 }, clock, silentLogger);
    lifecycle.start().catch(() => undefined);
    const stop = lifecycle.stop();
    await clock.advance(100);
    await stop;
  });

  it('names the component that exceeds its time limit', async () => {
    const clock = new ManualClock();
    const hang = () => new Promise<void>(() => undefined);
    const lifecycle = new Lifecycle(
      [traced('slow', [], { init: hang })],
      limits,
      clock,
      silentLogger,
    );
    const start = lifecycle.start();
    start.catch(() => undefined);
    await clock.advance(1000);
    await assert.rejects(start, /slow: init exceeded its time limit/);
  });
});
