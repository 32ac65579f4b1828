/** The commands of a report on a real VPP, without an agent. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseFlags } from '#cmd/agent/flags.ts';
import { commandFile, vppCommands } from '#cmd/agent/report/contents.ts';
import { report } from '#cmd/agent/report/report.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { readBundle } from '#test/cmd/agent/report/bundle.ts';
import { VppProcess } from '#test/integration/support/vpp-process.ts';
import { withoutIsolatedVpp } from '#test/support/requirements.ts';

describe('a report of a VPP whose agent does not run', { skip: withoutIsolatedVpp() }, () => {
  it('has the output of every command', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'report-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const vpp = new VppProcess({ prefix: ['unshare', '--net'] });
    t.after(() => vpp.remove());
    await vpp.start();
    const config = JSON.stringify({ 'binapi-socket-path': vpp.apiSocket });
    writeFileSync(join(folder, 'govpp.conf'), config);
    writeFileSync(join(folder, 'http.conf'), `local-socket: ${join(folder, 'agent.sock')}`);
    const path = join(folder, 'report.tar.gz');
    const deps = {
      flags: parseFlags(['report', '--config-dir', folder, '--microservice-label', 'node1'], {}),
      env: {},
      clock: systemClock,
      random: systemRandom,
      build: { version: 'v0', date: '', commit: '' },
      ended: new Promise<string>(() => undefined),
    };
    await report(path, deps, () => undefined);
    const { files, errors } = await readBundle(path);
    for (const command of vppCommands) {
      assert.equal(errors[commandFile(command)], undefined, command);
      assert.doesNotMatch(files.get(commandFile(command))!, /unknown (input|command)/, command);
    }
    assert.match(files.get('vpp/version-verbose.txt')!, /Version: +v\d\d\.\d\d/);
    assert.match(files.get('vpp/interface.txt')!, /local0/);
  });
});
