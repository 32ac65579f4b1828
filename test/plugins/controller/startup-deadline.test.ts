/** The deadline of the startup resync. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { emptyResync, makeController, settle } from './controller-harness.ts';

const config = { startupResyncDeadline: '30s' };

describe('startupResyncDeadline', () => {
  it('ends the event loop when no resync has come', async () => {
    const bench = makeController([], { config });
    await bench.clock.advance(31_000);
    assert.equal(bench.states.at(-1)?.[0], 'error');
  });

  it('is suspended while the start is delayed, and begins when the delay ends', async () => {
    let isDelayed = true;
    const bench = makeController([], { config, isStartDelayed: () => isDelayed });
    await bench.clock.advance(3_600_000);
    assert.deepEqual(bench.states.at(-1), ['init', undefined]);
    isDelayed = false;
    await bench.clock.advance(29_000);
    assert.deepEqual(bench.states.at(-1), ['init', undefined]);
    await bench.clock.advance(60_000);
    assert.equal(bench.states.at(-1)?.[0], 'error');
  });

  it('has no effect after a resync', async () => {
    const bench = makeController([], { config, isStartDelayed: () => true });
    bench.controller.push(emptyResync);
    await settle();
    await bench.clock.advance(120_000);
    assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
  });
});
