/** A report of a real node, and of a VPP whose agent does not run. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { parseFlags } from '#cmd/agent/flags.ts';
import { replay } from '#cmd/agent/replay.ts';
import { type ReportDeps, report } from '#cmd/agent/report/report.ts';
import { systemClock, systemRandom } from '#infra/clock/system.ts';
import { commandFile, documents, vppCommands } from '#infra/support-bundle/contents.ts';
import { readBundle } from '#test/cmd/agent/report/bundle.ts';
import { RealNode } from '#test/integration/support/node.ts';
import { VppProcess } from '#test/integration/support/vpp-process.ts';
import { withoutIsolatedVpp, withoutNodes } from '#test/support/requirements.ts';

function deps(configDir: string): ReportDeps {
  const flags = ['report', '--config-dir', configDir, '--microservice-label', 'node1'];
  return {
    flags: parseFlags(flags, {}),
    env: {},
    clock: systemClock,
    random: systemRandom,
    build: { version: 'v0', date: '', commit: '' },
    ended: new Promise<string>(() => undefined),
  };
}

function testFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'report-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('a report of a real node', { skip: withoutNodes(), timeout: 200_000 }, () => {
  it('is complete, and its recording can be replayed', async (t) => {
    const folder = testFolder(t);
    const controller = { 'record-run': join(folder, 'runs') };
    await using node = await RealNode.create({ links: 'VETH', controller });
    await node.agent.start();
    await node.pod('web');
    const path = join(folder, 'report.tar.gz');
    await report(path, deps(dirname(node.agent.storeFolder)), () => undefined);
    const { files, errors } = await readBundle(path);
    // The node has no NIC, and so no address.
    assert.deepEqual(Object.keys(errors), ['node/ipam.json']);
    for (const file of Object.keys(documents))
      if (!(file in errors)) assert.ok((files.get(file)?.length ?? 0) > 1, file);
    assert.match(files.get('vpp/interface.txt')!, /host-/);
    assert.equal(await replay(path, () => undefined), true);
  });
});

describe('a report of a VPP whose agent does not run', { skip: withoutIsolatedVpp() }, () => {
  it('has the output of every command', async (t) => {
    const folder = testFolder(t);
    const vpp = new VppProcess({ prefix: ['unshare', '--net'] });
    t.after(() => vpp.remove());
    await vpp.start();
    const config = JSON.stringify({ 'binapi-socket-path': vpp.apiSocket });
    writeFileSync(join(folder, 'govpp.conf'), config);
    writeFileSync(join(folder, 'http.conf'), `local-socket: ${join(folder, 'agent.sock')}`);
    const path = join(folder, 'report.tar.gz');
    await report(path, deps(folder), () => undefined);
    const { files, errors } = await readBundle(path);
    for (const command of vppCommands) {
      assert.equal(errors[commandFile(command)], undefined, command);
      assert.doesNotMatch(files.get(commandFile(command))!, /unknown (input|command)/, command);
    }
    assert.match(files.get('vpp/version-verbose.txt')!, /Version: +v\d\d\.\d\d/);
    assert.match(files.get('vpp/interface.txt')!, /local0/);
  });
});
