import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readJunit } from './junit.ts';

const REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="6"><testsuite name="e2e">
  <testcase name="[SynchronizedBeforeSuite]" classname="e2e" status="passed" time="1.5"></testcase>
  <testcase name="[It] [sig-network] Services serves &amp; answers" classname="e2e" status="passed" time="12.4"></testcase>
  <testcase name="[It] [sig-network] Services &#34;fails&#34;" classname="e2e" status="failed" time="3.1">
    <failure message="timed out &lt;5s&gt;" type="failed">text</failure><system-err>logs</system-err>
  </testcase>
  <testcase name="[It] [sig-network] not selected" classname="e2e" status="skipped" time="0">
    <skipped message="skipped"></skipped>
  </testcase>
  <testcase name="[It] [sig-network] needs IPv6" classname="e2e" status="skipped" time="0.2">
    <skipped message="skipped - no IPv6 here"></skipped>
  </testcase>
  <testcase name="[It] [sig-network] no attribute" classname="e2e" status="failed" time="3">
    <failure message="" type="failed">
      expected &lt;1&gt;
      In [It] at: line 5
    </failure>
  </testcase>
  <testcase name="[AfterEach] the last node" classname="e2e" status="panicked" time="1">
    <error message="boom" type="panicked">text</error>
  </testcase>
</testsuite></testsuites>`;

describe('report in the format of JUnit', () => {
  it('has the tests that ran, those that skipped themselves, and failures of the set-up', () => {
    assert.deepEqual(readJunit(REPORT), [
      {
        name: '[sig-network] Services serves & answers',
        outcome: 'passed',
        message: '',
        seconds: 12,
      },
      {
        name: '[sig-network] Services "fails"',
        outcome: 'failed',
        message: 'timed out <5s>',
        seconds: 3,
      },
      {
        name: '[sig-network] needs IPv6',
        outcome: 'skipped',
        message: 'no IPv6 here',
        seconds: 0,
      },
      {
        name: '[sig-network] no attribute',
        outcome: 'failed',
        message: 'expected <1>',
        seconds: 3,
      },
      { name: '[AfterEach] the last node', outcome: 'failed', message: 'boom', seconds: 1 },
    ]);
  });

  it('may have cases without status and time, as those of cyclonus', () => {
    const text =
      '<testsuite><testcase name="deny all"></testcase><testcase name="allow all"><failure></failure></testcase></testsuite>';
    assert.deepEqual(readJunit(text), [
      { name: 'deny all', outcome: 'passed', message: '', seconds: undefined },
      { name: 'allow all', outcome: 'failed', message: '', seconds: undefined },
    ]);
  });
});
