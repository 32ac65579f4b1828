import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isJustified, type Machine } from '../../scripts/lib/skip-reasons.ts';
import {
  changedSince,
  folders,
  renderReport,
  renderSection,
  sectionsOf,
  treeLines,
} from '../../scripts/lib/vpp-report.ts';

const minimal: Machine = {
  isRoot: () => false,
  hasProgram: () => false,
  exists: () => false,
  canCreateNamespaces: () => false,
  canScheduleRealTime: () => false,
  hasSocketHooks: () => false,
  hasCapability: () => false,
};
const full: Machine = {
  isRoot: () => true,
  hasProgram: () => true,
  exists: () => true,
  canCreateNamespaces: () => true,
  canScheduleRealTime: () => true,
  hasSocketHooks: () => true,
  hasCapability: () => true,
};

describe('the reason of a skipped test', () => {
  const reasons = [
    'needs vpp in the PATH: install FD.io VPP 24.10, 25.10, 26.06 or 26.10',
    'needs ../shared/vpp-api: copy the shared files beside the repository',
    'needs root on Linux: run as root',
    'needs network namespaces: grant CAP_SYS_ADMIN',
    'needs real-time scheduling: grant CAP_SYS_NICE',
    'needs the capability SYS_RESOURCE: grant CAP_SYS_RESOURCE',
    'needs /dev/vhost-net: load the kernel module vhost_net',
    'needs cnitool in the PATH: install it',
    'needs IPv6 on the loopback',
  ];
  for (const reason of reasons)
    it(`is accepted where it is true: ${reason}`, () => {
      assert.equal(isJustified(reason, minimal), true);
      assert.equal(isJustified(reason, full), false);
    });

  it('is never accepted when it is missing, unknown, or names a package that .ci/run installs', () => {
    for (const reason of ['', 'later', 'needs etcd in the PATH: install etcd-server'])
      assert.equal(isJustified(reason, minimal), false, reason);
  });
});

describe('report of the last runs against VPP', () => {
  const result = {
    file: 'test/vpp/a.test.ts',
    passed: 3,
    failures: [{ path: ['suite', 'bad'], text: 'no' }],
    skips: [{ path: ['tap'], reason: 'no /dev/vhost-net' }],
    output: '',
    ms: 1,
  };
  const section = renderSection('v26.06-release', treeLines(), [result], 'TAPs: with a stand-in.');

  it('counts the tests, and names failures and skips', () => {
    assert.match(section, /\| test\/vpp\/a\.test\.ts \| 3 \| 1 \| 1 \|/);
    assert.match(section, /- failed: test\/vpp\/a\.test\.ts: suite > bad\n/);
    assert.match(section, /- skipped: .*no \/dev\/vhost-net\n/);
    assert.match(section, /\n3 passed, 1 failed, 1 skipped\n$/);
  });

  it('is valid for the tree of the run and for no other', () => {
    assert.deepEqual(changedSince(section), []);
    assert.deepEqual(changedSince(section.replace(/ [0-9a-f]{40}/, ' 0')), [folders[0]]);
    assert.deepEqual(changedSince(''), folders);
  });

  it('keeps the section of each release that was tried', () => {
    const older = renderSection('v25.10-release', ['src/vpp 0'], [result], 'TAPs: none.');
    const report = renderReport(
      new Map([
        ['v25.10-release', older],
        ['v26.06-release', section],
      ]),
    );
    assert.deepEqual(
      [...sectionsOf(report)],
      [
        ['v26.06-release', section],
        ['v25.10-release', older],
      ],
    );
    assert.equal(renderReport(sectionsOf(report)), report);
  });
});
