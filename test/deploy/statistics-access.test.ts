/** The agent with its capabilities in deploy/ reads the statistics segment of a VPP with all capabilities. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeSync } from 'node:fs';
import { describe, it } from 'node:test';
import koffi from 'koffi';
import { withoutProgram, withoutRoot } from '#test/support/requirements.ts';
import { MANIFEST } from '../../scripts/lib/deploy/chart.ts';
import { containerOf, find, objectsOf } from './support/objects.ts';

const limits = { skip: withoutRoot() || withoutProgram('setpriv'), timeout: 60_000 };

const reader = `
  import { systemClock } from '#infra/clock/system.ts';
  import { StatsSegment } from '#vpp/stats/segment.ts';
  try {
    StatsSegment.open(${process.pid}, systemClock).close();
    console.log('opened');
  } catch (error) {
    console.log(error.code);
  }`;

/** This process stands for VPP: it has all capabilities and the memory of the segment. */
function withSegment(): void {
  const create = koffi.load(null).func('int memfd_create(const char *name, unsigned int flags)');
  const header = Buffer.alloc(64);
  header.writeBigUInt64LE(2n);
  writeSync(create('stat segment', 0), header);
}

function readWith(capabilities: readonly string[]): string {
  const bounding = ['-all', ...capabilities.map((name) => `+${name.toLowerCase()}`)].join(',');
  const command = ['--no-new-privs', `--bounding-set=${bounding}`, process.execPath];
  const { stdout, stderr } = spawnSync(
    'setpriv',
    [...command, '--input-type=module-typescript', '--eval', reader],
    { encoding: 'utf8' },
  );
  return stdout.trim() || stderr;
}

describe('statistics of a privileged VPP', limits, () => {
  const objects = objectsOf(readFileSync(MANIFEST, 'utf8'));
  const agent = containerOf(find(objects, 'DaemonSet', 'contiv-vswitch'), 'contiv-agent');
  const capabilities = agent.securityContext.capabilities!.add!;

  it('are open to an agent with the capabilities of the manifest', () => {
    withSegment();
    assert.equal(readWith(capabilities), 'opened');
  });

  it('are denied without SYS_PTRACE, with an error that says so', () => {
    withSegment();
    const others = capabilities.filter((name) => name !== 'SYS_PTRACE');
    assert.equal(readWith(others), 'CV_STATS_ACCESS');
  });
});
