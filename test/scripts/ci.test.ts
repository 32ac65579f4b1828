import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isJustified, type Machine } from '../../scripts/lib/skip-reasons.ts';
import { changedSince, folders, renderReport, treeLines } from '../../scripts/lib/vpp-report.ts';

const bare: Machine = {
  isRoot: () => false,
  hasProgram: () => false,
  exists: () => false,
  canMakeNamespaces: () => false,
};
const full: Machine = {
  isRoot: () => true,
  hasProgram: () => true,
  exists: () => true,
  canMakeNamespaces: () => true,
};

describe('a skipped test', () => {
  const reasons = [
    'no vpp binary in the PATH',
    '../shared/vpp-api is not there',
    'needs root on Linux',
    'install iproute2, and allow network namespaces',
    'TAP needs /dev/vhost-net',
    'no cnitool in the PATH: go install it',
  ];
  for (const reason of reasons)
    it(`is excused where it is true: ${reason}`, () => {
      assert.equal(isJustified(reason, bare), true);
      assert.equal(isJustified(reason, full), false);
    });

  it('is never excused when it gives another reason, or none', () => {
    for (const reason of ['', 'later', 'install etcd-server'])
      assert.equal(isJustified(reason, bare), false, reason);
  });
});

describe('report of the last run against VPP', () => {
  const result = {
    file: 'test/vpp/a.test.ts',
    passed: 3,
    failures: [{ path: ['suite', 'bad'], text: 'no' }],
    skips: [{ path: ['tap'], reason: 'no /dev/vhost-net' }],
    output: '',
    ms: 1,
  };
  const report = renderReport('v26.06-release', treeLines(), [result]);

  it('counts, and names what failed and what was skipped', () => {
    assert.match(report, /\| test\/vpp\/a\.test\.ts \| 3 \| 1 \| 1 \|/);
    assert.match(report, /- failed: test\/vpp\/a\.test\.ts: suite > bad\n/);
    assert.match(report, /- skipped: .*no \/dev\/vhost-net\n/);
    assert.match(report, /\n3 passed, 1 failed, 1 skipped\n$/);
  });

  it('holds for the tree that it saw and for no other', () => {
    assert.deepEqual(changedSince(report), []);
    assert.deepEqual(changedSince(report.replace(/ [0-9a-f]{40}/, ' 0')), [folders[0]]);
    assert.deepEqual(changedSince(''), folders);
  });
});
