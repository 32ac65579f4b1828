import assert from 'node:assert/strict';
import { it } from 'node:test';
import { enforcementText } from '../../../ui/src/views/policies/enforcement-text.ts';

it('says of policies of the cluster whether they are enforced, never that they are when it is not known', () => {
  const document = { state: 'settled', problem: '', applied: '', policies: [] } as const;
  const word = (changes: object) => enforcementText({ ...document, ...changes }).word;
  assert.equal(word({}), 'enforced');
  assert.equal(word({ state: 'changing' }), 'changing');
  assert.equal(word({ state: 'failed', problem: 'VPP is not connected' }), 'unknown');
  const carried = { policy: 'a', code: 'NotCarried', reason: 'ports of SCTP' } as const;
  const open = { policy: 'b', code: 'NotConfigured', reason: 'VPP answered -1' } as const;
  const some = enforcementText({ ...document, policies: [carried] });
  assert.deepEqual([some.tone, some.word], ['waiting', 'not enforced']);
  assert.match(some.text, /^1 policy is not enforced as defined.*deny more, not less\.$/);
  const both = enforcementText({ ...document, policies: [carried, open] });
  assert.equal(both.tone, 'bad');
  assert.doesNotMatch(both.text, /not less/);
});
