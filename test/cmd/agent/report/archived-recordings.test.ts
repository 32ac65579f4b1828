import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { packTar, type TarEntry } from 'modern-tar';
import { withRecordings } from '#cmd/agent/report/archived-recordings.ts';

async function archiveOf(t: TestContext, entries: TarEntry[], kept = 1): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'archived-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'report.tar.gz');
  const bytes = gzipSync(await packTar(entries));
  writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * kept)));
  return path;
}

const recording = (name: string, body: string): TarEntry => ({
  header: { name, size: body.length, type: 'file' },
  body,
});

const filesOf = async (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, join(folder, name)]));

describe('the recordings of an archive of another origin', () => {
  it('stay in their folder, without links and other files', async (t) => {
    const path = await archiveOf(t, [
      recording('recording/run-1.jsonl', 'one'),
      recording('../../../run-2.jsonl', 'two'),
      recording('/etc/run-3.jsonl', 'three'),
      recording('../../.bashrc', 'x'),
      { header: { name: 'run-4.jsonl', size: 0, type: 'symlink', linkname: '/etc/passwd' } },
      { header: { name: 'run-5.jsonl', size: 0, type: 'link', linkname: '/etc/passwd' } },
      { header: { name: 'run-6.jsonl', size: 0, type: 'directory' } },
    ]);
    let parent = '';
    await withRecordings(path, async (folder) => {
      parent = folder;
      const files = await filesOf(folder);
      assert.deepEqual(Object.keys(files).sort(), ['run-1.jsonl', 'run-2.jsonl', 'run-3.jsonl']);
      assert.equal(readFileSync(files['run-2.jsonl']!, 'utf8'), 'two');
    });
    assert.throws(() => readdirSync(parent), { code: 'ENOENT' });
  });

  it('are refused when the archive is truncated, has a name twice, or fills the disk', async (t) => {
    const long = recording('run-1.jsonl', 'x'.repeat(1_000));
    const other = recording('run-2.jsonl', 'x'.repeat(1_000));
    const noise = Array.from({ length: 50 }, (_, n) => Math.sin(n)).join();
    for (const [path, message] of [
      [await archiveOf(t, [recording('run-1.jsonl', noise)], 0.5), /unexpected end of file/],
      [
        await archiveOf(t, [recording('run-1.jsonl', 'x'), recording('run-1.jsonl', 'y')]),
        /EEXIST/,
      ],
      [await archiveOf(t, [long, other]), /more than 1999 bytes/],
    ] as const) {
      const used = withRecordings(path, async () => assert.fail('it is used'), 1_999);
      await assert.rejects(used, { code: 'CV_RECORDING_UNREADABLE', message });
    }
  });
});
