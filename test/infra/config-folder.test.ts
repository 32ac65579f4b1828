import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { checkConfigFolder } from '#infra/config/config-folder.ts';
import { ConfigError } from '#infra/config/load.ts';

const SET_BY = '(set by --config-dir or CONFIG_DIR)';
const notRoot = process.getuid?.() !== 0 && 'needs root, to become another user';

describe('the folder of the configuration files', () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'config-folder-'));
    writeFileSync(join(folder, 'file'), '');
    symlinkSync('loop', join(folder, 'loop'));
    mkdirSync(join(folder, 'locked/inner'), { recursive: true });
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  const assertRejected = (path: string, problem: string) => {
    const where = join(folder, path);
    assert.throws(
      () => checkConfigFolder(where),
      (error) => {
        assert.ok(error instanceof ConfigError);
        assert.equal(error.message, `${where}: ${problem} ${SET_BY}`);
        return true;
      },
    );
  };

  it('is accepted when it exists', () => checkConfigFolder(folder));

  it('is rejected with the reason', () => {
    assertRejected('none', 'the folder does not exist');
    assertRejected('file/inner', 'the folder does not exist');
    assertRejected('file', 'is not a folder');
    assertRejected('loop', 'the folder cannot be read: ELOOP');
    assertRejected('x'.repeat(300), 'the folder cannot be read: ENAMETOOLONG');
  });

  it('is rejected without the permission to enter its parent', { skip: notRoot }, () => {
    chmodSync(folder, 0o755);
    chmodSync(join(folder, 'locked'), 0o700);
    process.seteuid!(65534);
    try {
      assertRejected('locked/inner', 'the folder cannot be read: EACCES');
    } finally {
      process.seteuid!(0);
    }
  });
});
