/** The packages of the images with native addons: they work without the node_modules they are copied from. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { copyNativePackages } from '../../scripts/lib/native-packages.ts';

describe('the packages with native addons', () => {
  const project = mkdtempSync(join(tmpdir(), 'native-packages-'));
  after(() => rmSync(project, { recursive: true }));

  it('work in a folder of their own', async () => {
    copyNativePackages(project);
    const program = join(project, 'dist/program.mjs');
    writeFileSync(
      program,
      `import bcrypt from 'bcrypt';
import { ClassicLevel } from 'classic-level';
import koffi from 'koffi';
export const pid = koffi.load(null).func('int getpid()')();
export const isRight = bcrypt.compareSync('a', bcrypt.hashSync('a', 4));
const store = new ClassicLevel(${JSON.stringify(join(project, 'store'))});
await store.put('key', 'value');
export const value = await store.get('key');
await store.close();
`,
    );
    const { pid, isRight, value } = await import(pathToFileURL(program).href);
    assert.deepEqual({ pid, isRight, value }, { pid: process.pid, isRight: true, value: 'value' });
  });
});
