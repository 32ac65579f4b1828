/** The file with the keys of this node: what is cut off, readable by others, of another node, or on a disk that fails. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testKeys } from '#test/plugins/test-keys.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { keyFile } from '#vpp/wireguard/key-file.ts';
import type { OwnKeyStore } from '#vpp/wireguard/own-keys.ts';

const newPath = () => join(temporaryFolder('keys'), 'keys');
const open = (path: string, run: number, node = 'node-a') =>
  testKeys(`run ${run}`, { file: keyFile(path), node });
const publicKeys = async (store: OwnKeyStore) =>
  (await store.ownKeys()).keys.map(({ publicKey }) => publicKey);

test('a restarted node has the keys that it had', async () => {
  const path = newPath();
  const before = await publicKeys(open(path, 1));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const after = open(path, 2);
  assert.deepEqual(await publicKeys(after), before);
  for (const key of before) assert.notEqual(after.privateKeyOf(key), undefined);
});

test('keys on a copied disk are not used by another node', async () => {
  const path = newPath();
  const before = await publicKeys(open(path, 1));
  const copy = await publicKeys(open(path, 2, 'node-b'));
  for (const key of copy) assert.equal(before.includes(key), false);
  assert.deepEqual(await publicKeys(open(path, 3, 'node-b')), copy);
});

test('keys that others could read are not used', async () => {
  const path = newPath();
  const before = await publicKeys(open(path, 1));
  chmodSync(path, 0o640);
  const after = await publicKeys(open(path, 2));
  for (const key of after) assert.equal(before.includes(key), false);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('a file that is cut off anywhere, or of zeros, has no keys', async () => {
  const path = newPath();
  const before = await publicKeys(open(path, 1));
  const text = readFileSync(path);
  const broken = [...text.keys()].map((length) => text.subarray(0, length));
  for (const [run, content] of [...broken, Buffer.alloc(text.length)].entries()) {
    writeFileSync(path, content);
    const after = await publicKeys(open(path, run + 2));
    assert.equal(new Set([...before, ...after]).size, 4, `${content}`);
  }
});

test('a link is replaced, and its target is not written', async () => {
  const path = newPath();
  const target = join(path, '..', 'target');
  writeFileSync(target, 'unmanaged', { mode: 0o600 });
  symlinkSync(target, path);
  await publicKeys(open(path, 1));
  assert.equal(readFileSync(target, 'utf8'), 'unmanaged');
  assert.equal(lstatSync(path).isFile(), true);
});

test('what a crash left with the rights of all is written with those of root', async () => {
  const path = newPath();
  writeFileSync(`${path}.new`, 'x', { mode: 0o666 });
  await publicKeys(open(path, 1));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(join(path, '..')), ['keys']);
});

test('while the disk fails at any write, the keys are those of before, and the next write succeeds', async () => {
  const steps: ((store: OwnKeyStore) => Promise<void>)[] = [
    (store) => store.setReplacement({ slot: 0, isNew: false }),
    (store) => store.replace(0),
    (store) => store.setReplacement(undefined),
    (store) => store.requestReplacement(),
  ];
  for (const isWritten of [false, true]) {
    const file = keyFile(newPath());
    let fails = false;
    const failing = {
      read: () => file.read(),
      write: async (keys: Parameters<typeof file.write>[0]) => {
        if (!fails || isWritten) await file.write(keys);
        if (fails) throw new Error('no space left on device');
      },
    };
    const store = testKeys('a', { file: failing });
    await store.ownKeys();
    for (const step of steps) {
      const before = await store.ownKeys();
      fails = true;
      await assert.rejects(step(store), { code: 'CV_WIREGUARD_KEY_FILE' });
      assert.deepEqual(await store.ownKeys(), before);
      for (const { publicKey } of before.keys)
        assert.notEqual(store.privateKeyOf(publicKey), undefined);
      fails = false;
      await step(store);
      assert.deepEqual(await testKeys('b', { file }).ownKeys(), await store.ownKeys());
    }
  }
});
