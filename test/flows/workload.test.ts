import assert from 'node:assert/strict';
import { it } from 'node:test';
import { workloadOf } from '#flows/workload.ts';
import type { Pod } from '#kubernetes/models/pod.ts';

const cases: readonly [name: string, labels: Readonly<Record<string, string>>, expected: string][] =
  [
    ['web-7c5ddbdf54-x2k9q', { 'pod-template-hash': '7c5ddbdf54' }, 'web'],
    ['web-7c5ddbdf54-0', { 'pod-template-hash': '7c5ddbdf54' }, 'web'],
    ['db-0', { 'statefulset.kubernetes.io/pod-name': 'db-0' }, 'db'],
    ['proxy-b4x2z', { 'controller-revision-hash': '5f6' }, 'proxy'],
    ['report-run-28-zt5pl', { 'batch.kubernetes.io/job-name': 'report-run-28' }, 'report-run-28'],
    ['debug', { app: 'debug' }, 'debug'],
    ['other-name', { 'pod-template-hash': 'abc' }, 'other-name'],
  ];

for (const [name, labels, expected] of cases)
  it(`the workload of ${name} is ${expected}`, () => {
    assert.equal(workloadOf({ name, namespace: 'shop', labels } as Pod), `shop/${expected}`);
  });
