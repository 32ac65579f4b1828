import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gitTreeHash } from '../../scripts/lib/git-tree.ts';

test('the hash of a folder is the one that git gives it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tree-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
  git('init', '--quiet');
  mkdirSync(join(folder, 'it/a.b'), { recursive: true });
  mkdirSync(join(folder, 'it/a'));
  writeFileSync(join(folder, 'it/a/ü.ts'), 'text\n');
  writeFileSync(join(folder, 'it/a.b/empty'), '');
  writeFileSync(join(folder, 'it/a-c'), 'sorts between a. and a/');
  writeFileSync(join(folder, 'it/program'), '#!/bin/sh\n');
  chmodSync(join(folder, 'it/program'), 0o755);
  symlinkSync('program', join(folder, 'it/link'));
  git('add', 'it');
  assert.equal(gitTreeHash(join(folder, 'it')), git('write-tree', '--prefix=it/'));
  writeFileSync(join(folder, 'it/a/ü.ts'), 'text');
  assert.notEqual(gitTreeHash(join(folder, 'it')), git('write-tree', '--prefix=it/'));
});
