import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isDefect } from '#infra/errors/errors.ts';
import { createFolder } from '#infra/files/folder.ts';

describe('the creation of a folder', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'folder-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  it('creates missing parents with the same mode, and keeps those that exist', () => {
    mkdirSync(join(folder, 'a'), 0o755);
    createFolder(join(folder, 'a/b/c'), 0o700);
    createFolder(join(folder, 'a/b/c/'), 0o700);
    const modes = ['a', 'a/b', 'a/b/c'].map((path) => statSync(join(folder, path)).mode & 0o777);
    assert.deepEqual(modes, [0o755, 0o700, 0o700]);
  });

  it('follows symbolic links to folders', () => {
    mkdirSync(join(folder, 'target'));
    symlinkSync(join(folder, 'target'), join(folder, 'link'));
    createFolder(join(folder, 'link'));
    createFolder(join(folder, 'link/inside'));
    assert.ok(statSync(join(folder, 'target/inside')).isDirectory());
  });

  it('fails where the file system has no new folders, although the parent exists', () => {
    assert.throws(
      () => createFolder('/proc/contiv/stn'),
      (error) => {
        assert.match(
          String(error),
          /cannot create \/proc\/contiv: its file system does not allow new folders there/,
        );
        return !isDefect(error);
      },
    );
  });

  it('fails at a file, below a file, and at a symbolic link to nothing', () => {
    writeFileSync(join(folder, 'file'), '');
    symlinkSync(join(folder, 'nothing'), join(folder, 'broken'));
    assert.throws(() => createFolder(join(folder, 'file')), /EEXIST/);
    assert.throws(() => createFolder(join(folder, 'file/inside')), /ENOTDIR/);
    assert.throws(() => createFolder(join(folder, 'broken')), /EEXIST/);
  });

  it('accepts a folder that exists where nothing can be created', () => {
    createFolder('/proc/sys/net');
    createFolder('/');
  });
});
