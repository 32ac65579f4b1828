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
    { name: 'set TCP CLOSE_WAIT timeout', outcome: 'failed', message: '' },
    { name: 'needs IPv6', outcome: 'skipped', message: 'no IPv6' },
  ],
  measures: ['10 requests, none lost'],
};

const render = (...results: readonly SuiteResult[]): string =>
  renderClusterReport([{ title: 'Networks', notRun: ['SCTP'], needs: undefined, results }], facts);

describe('report of the tests of Kubernetes', () => {
  it('names each failure, skip and measure, and what did not run', () => {
    const text = render(result);
    assert.match(
      text,
      /\| Networks \| 2 nodes, kube-proxy: iptables \| 1 \| 2 \| 1 \| 13 \| this \|/,
    );
    assert.match(
      text,
      /## Networks\n\n2 nodes, kube-proxy: iptables:\n\n- failed: answers: timed out after 5 s\n- failed: set TCP CLOSE_WAIT timeout: cause: it looks [^\n]*\n- skipped: needs IPv6: no IPv6\n- 10 requests, none lost\n\n- not run: SCTP\n/,
    );
    assert.match(text, /\n- no NIC\n/);
    assert.match(text, /```\nsrc\/vpp 1\nplugins 2\n```/);
  });

  it('has no paths of the machine, but those of URLs', () => {
    const message =
      'error running /home/a/kubectl at: /root/go/k8s.io/a@v1/b.go:7 http://10.0.0.1:80/x/y';
    const text = render({ ...result, cases: [{ name: 'a', outcome: 'failed', message }] });
    assert.match(text, /a: error running kubectl at: b\.go:7 http:\/\/10\.0\.0\.1:80\/x\/y/);
  });

  it('marks a suite that ran on another tree, or never', () => {
    assert.match(render({ ...result, trees: ['src/vpp 0'] }), /\| an earlier one \|/);
    assert.match(render(), /\| Networks \| – \| not run \|/);
  });

  it('says what a suite needs that did not run', () => {
    const suite = { title: 'Clusters', notRun: [], needs: 'no such policies', results: [] };
    assert.match(
      renderClusterReport([suite], facts),
      /\| Clusters \| – \| not run: no such policies \|/,
    );
  });
});
