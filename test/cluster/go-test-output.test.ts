import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readGoTestOutput } from './go-test-output.ts';

const OUTPUT = `=== RUN   TestConformance
    suite.go:198: Test Setup: Applying base manifests
=== RUN   TestConformance/Ingress
    suite.go:10: Applying base/ingress.yaml
=== RUN   TestConformance/Ingress/Should_allow_TCP
=== RUN   TestConformance/Ingress/Should_deny_TCP;_at_a_port
    helper.go:91: Expected connection to fail, but instead it connected.
    helper.go:60:${' '}
        	Error Trace:	helper.go:60
        	Error:      	Condition never satisfied
=== NAME  TestConformance/Ingress
    apply.go:3: Deleting policy
=== RUN   TestConformance/NamedPort
    suite.go:250: Skipping NamedPort: suite does not support NamedPorts
--- FAIL: TestConformance (41.20s)
    --- FAIL: TestConformance/Ingress (20.02s)
        --- PASS: TestConformance/Ingress/Should_allow_TCP (0.61s)
        --- FAIL: TestConformance/Ingress/Should_deny_TCP;_at_a_port (10.04s)
    --- SKIP: TestConformance/NamedPort (0.00s)
FAIL
`;

describe('output of a Go test', () => {
  it('is one result for each test that has no other below it, with what it logged last', () => {
    assert.deepEqual(readGoTestOutput(OUTPUT), [
      {
        name: 'TestConformance/Ingress/Should allow TCP',
        outcome: 'passed',
        message: '',
        seconds: 1,
      },
      {
        name: 'TestConformance/Ingress/Should deny TCP; at a port',
        outcome: 'failed',
        message: 'Expected connection to fail, but instead it connected.',
        seconds: 10,
      },
      {
        name: 'TestConformance/NamedPort',
        outcome: 'skipped',
        message: 'Skipping NamedPort: suite does not support NamedPorts',
        seconds: 0,
      },
    ]);
  });

  it('is the failed test itself when its preparation fails', () => {
    const text = '=== RUN   TestA\n    a_test.go:3: no cluster\n--- FAIL: TestA (0.00s)\n';
    assert.deepEqual(readGoTestOutput(text), [
      { name: 'TestA', outcome: 'failed', message: 'no cluster', seconds: 0 },
    ]);
  });
});
