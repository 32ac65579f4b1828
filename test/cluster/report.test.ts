import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderClusterReport } from './report.ts';
import type { SuiteResult } from './results.ts';

const trees = ['src/vpp 1', 'plugins 2'];
const facts = { vpp: 'v26.06-release', exceptions: ['no NIC'], trees };

const result: SuiteResult = {
  suite: 'network',
  trees,
  cluster: '2 nodes, kube-proxy: iptables',
  seconds: 12.6,
  cases: [
    { name: 'serves', outcome: 'passed', message: '' },
    { name: 'answers', outcome: 'failed', message: 'timed out\n  after 5 s' },
    { name: 'should run iperf2', outcome: 'failed', message: '' },
    { name: 'needs IPv6', outcome: 'skipped', message: 'no IPv6' },
  ],
  measures: ['10 requests, none lost'],
};

const render = (result: SuiteResult | undefined): string =>
  renderClusterReport([{ title: 'Networks', notRun: ['SCTP'], result }], facts);

describe('report of the tests of Kubernetes', () => {
  it('names each failure, skip and measure, and what did not run', () => {
    const text = render(result);
    assert.match(
      text,
      /\| Networks \| 2 nodes, kube-proxy: iptables \| 1 \| 2 \| 1 \| 13 \| this \|/,
    );
    assert.match(
      text,
      /## Networks\n\n- failed: answers: timed out after 5 s\n- failed: should run iperf2: cause: iperf of [^\n]*\n- skipped: needs IPv6: no IPv6\n- 10 requests, none lost\n- not run: SCTP\n/,
    );
    assert.match(text, /\n- no NIC\n/);
    assert.match(text, /```\nsrc\/vpp 1\nplugins 2\n```/);
  });

  it('marks a suite that ran on another tree, or never', () => {
    assert.match(render({ ...result, trees: ['src/vpp 0'] }), /\| an earlier one \|/);
    assert.match(render(undefined), /\| Networks \| – \| not run \|/);
  });
});
