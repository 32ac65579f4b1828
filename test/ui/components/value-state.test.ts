import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { valueStates } from '#documents/scheduler/value.ts';
import { stateMeaning, stateWord } from '../../../ui/src/components/value-state.ts';

describe('a state of a value', () => {
  it('is explained, each one', () => {
    for (const state of valueStates) assert.ok(stateMeaning(state), state);
  });

  it('is a word that operators know', () => {
    assert.equal(stateWord('OBTAINED'), 'UNMANAGED');
    assert.equal(stateWord('DISCOVERED'), 'STALE');
    assert.equal(stateWord('CONFIGURED'), 'CONFIGURED');
    assert.equal(stateWord('NEW'), 'NEW');
    assert.equal(stateMeaning('NEW'), undefined);
  });
});
