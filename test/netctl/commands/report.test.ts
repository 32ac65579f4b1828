/** `netctl report`: the archive of a node, with what could not be read in its manifest. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { fakeAgent } from '../support/fake-agent.ts';
import { NetctlProgram } from '../support/program.ts';

interface Manifest {
  readonly collector: string;
  readonly parts: readonly { readonly file: string; readonly error?: string }[];
}

it('saves an archive of each node that answers, and nothing of the others', async () => {
  await using agent = await fakeAgent({
    liveness: { state: 1 },
    'contiv/v1/ipam': { nodeName: 'node1' },
    'vpp/command': (reply) => reply.writeHead(403).end('{"Error": "changes state"}'),
  });
  using program = new NetctlProgram();
  const folder = mkdtempSync(join(tmpdir(), 'netctl-report-'));
  try {
    const servers = ['--server', agent.address, '--server', '127.0.0.1:1'];
    const args = ['report', '-o', 'json', '--folder', folder, ...servers];
    const { code, stdout, stderr } = await program.run(...args);
    assert.equal(code, 2, stderr);
    const { reports, failures } = JSON.parse(stdout) as {
      reports: { path: string }[];
      failures: { reason: string }[];
    };
    assert.deepEqual(
      failures.map(({ reason }) => reason),
      ['refused'],
    );
    assert.deepEqual(
      readdirSync(folder).map((name) => join(folder, name)),
      reports.map(({ path }) => path),
    );
    const read = (file: string): unknown =>
      JSON.parse(execFileSync('tar', ['-xzOf', reports[0]!.path, file], { encoding: 'utf8' }));
    assert.deepEqual(read('node/ipam.json'), { nodeName: 'node1' });
    const { collector, parts } = read('manifest.json') as Manifest;
    assert.equal(collector, 'netctl');
    const errorOf = (name: string) => parts.find(({ file }) => file === name)?.error;
    assert.equal(errorOf('node/ipam.json'), undefined);
    assert.match(String(errorOf('status/readiness.json')), /status 404/);
    assert.match(stderr, /without \d+ parts .*: status 403: changes state/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
