import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';

it('npm ci --omit=dev succeeds without what builds the page', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'prepare-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const part of ['package.json', 'scripts'])
    cpSync(part, join(folder, part), { recursive: true });
  const output = execFileSync('npm', ['run', '--silent', 'prepare'], {
    cwd: folder,
    encoding: 'utf8',
  });
  assert.equal(output, 'without the web page: esbuild is not installed\n');
});
