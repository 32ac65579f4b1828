import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { systemClock } from '#infra/clock/system.ts';
import { hostPort } from '#linux/host-port.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import { openNamespace } from '#linux/kernel/namespace-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'namespace-file-'));
after(() => rmSync(folder, { recursive: true }));

describe('the path of a network namespace', () => {
  it('is rejected when it leads to another file, also to a pipe without a writer', () => {
    const [file, pipe] = [join(folder, 'file'), join(folder, 'pipe')];
    writeFileSync(file, '');
    execFileSync('mkfifo', [pipe]);
    for (const path of [file, pipe, folder, '/dev/null'])
      assert.throws(() => openNamespace(path), /not a network namespace/, path);
    assert.throws(() => openNamespace(join(folder, 'missing')), /does not exist/);
    // another reason is named as such: access denied, a name that is too long
    const tooLong = `/${'n'.repeat(10_000)}`;
    assert.throws(() => openNamespace(tooLong), /cannot be opened .*ENAMETOOLONG/);
  });

  it('is compared with the namespace of this process', async () => {
    const port = hostPort(kernelHost({ clock: systemClock }), () => true);
    const own = statSync('/proc/self/ns/net');
    const [first] = await port.ownNamespaces();
    assert.deepEqual(first, { device: own.dev, inode: own.ino });
    assert.deepEqual(await port.namespaceIdentity(`/proc/${process.pid}/ns/net`), first);
  });
});
