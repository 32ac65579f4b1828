import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withWrongProbes } from './cyclonus.ts';
import type { CaseResult } from './results.ts';

const OUTPUT = `args
case 1 of 2: deny all
0 wrong, 9 ignored, 72 correct
case 2 of 2: allow all
3 wrong, 9 ignored, 69 correct
1 wrong, 9 ignored, 71 correct
`;

describe('results of cyclonus', () => {
  it('say how many probes of a failed case were wrong, in each attempt', () => {
    const passed: CaseResult = { name: 'deny all', outcome: 'passed', message: '' };
    const failed: CaseResult = { name: 'allow all', outcome: 'failed', message: '' };
    assert.deepEqual(withWrongProbes([passed, failed], OUTPUT), [
      passed,
      { ...failed, message: '3 wrong, 9 ignored, 69 correct; then 1 wrong, 9 ignored, 71 correct' },
    ]);
  });
});
