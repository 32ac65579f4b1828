import assert from 'node:assert/strict';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '#test/support/temporary-folder.ts';
import { namespaceSight } from '#vpp/namespace-sight.ts';

const PID = 42;

/** A machine with a namespace at a path, and a process whose file system is in a folder. */
function machine(comm = 'vpp_main') {
  const folder = temporaryFolder('sight');
  const path = join(folder, 'run/netns/pod');
  make(path);
  const proc = join(folder, 'proc');
  make(join(proc, `${PID}/comm`), `${comm}\n`);
  const root = join(folder, 'container');
  const sight = namespaceSight({ pid: async () => PID }, proc);
  const isOf = (target: string) => symlinkSync(target, join(proc, `${PID}/root`));
  return { folder, path, root, sight, isOf };
}

function make(file: string, text = ''): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

describe('the sight of VPP on network namespaces', () => {
  it('is that of the agent in one file system', async () => {
    const { path, sight, isOf } = machine();
    isOf('/');
    assert.equal(await sight.sees(path), true);
    assert.equal(await sight.sees(`${path}-gone`), false);
  });

  it('ends at the file system of its container', async () => {
    const { path, root, sight, isOf } = machine();
    isOf(root);
    assert.equal(await sight.sees(path), false);
    make(join(root, path));
    assert.equal(await sight.sees(path), false, 'another namespace at the same path');
  });

  it('includes what is mounted into its container', async () => {
    const { path, root, sight, isOf } = machine();
    isOf(root);
    mkdirSync(dirname(join(root, path)), { recursive: true });
    linkSync(path, join(root, path));
    assert.equal(await sight.sees(path), true);
  });

  it('does not follow a symbolic link of the container to the files of the agent', async () => {
    const { folder, root, sight, isOf } = machine();
    isOf(root);
    const linked = join(folder, 'var-run');
    symlinkSync(join(folder, 'run'), linked);
    mkdirSync(dirname(join(root, linked)), { recursive: true });
    symlinkSync(join(folder, 'run'), join(root, linked));
    assert.equal(await sight.sees(join(linked, 'netns/pod')), false);
  });

  it('is unknown without a common PID namespace: the number is that of another process', async () => {
    const { path, sight, isOf } = machine('systemd');
    isOf('/');
    assert.equal(await sight.sees(path), false);
  });

  it('is unknown without the process', async () => {
    const { path, sight } = machine();
    assert.equal(await sight.sees(path), false);
  });
});
