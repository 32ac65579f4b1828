/** Runs the examples that are programs, as a reader of them would. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { LevelStore } from '#datastore/level-store.ts';
import { namespaceKey, namespaceText } from '#test/plugins/dbwatcher/watcher-harness.ts';
import { withoutProgram } from '#test/support/requirements.ts';
import { temporaryFolder } from '#test/support/temporary-folder.ts';

const FOLDER = join(import.meta.dirname, '../../examples');

async function output(example: string, ...args: string[]): Promise<string[]> {
  const command = [join(FOLDER, example), ...args];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command, {
    timeout: 60_000,
  });
  assert.equal(stderr, '');
  return stdout.trimEnd().split('\n');
}

describe('examples/index-map', () => {
  it('lookup.ts finds items by name and by secondary index', async () => {
    assert.deepEqual(await output('index-map/lookup.ts'), [
      "tap0: { vrf: 1, addresses: [ '10.1.1.1', '10.1.1.2' ] }",
      'tap9: undefined',
      "of 10.1.1.3: [ 'tap1' ]",
      "in VRF 1: [ 'tap0', 'tap1' ]",
      "indexes of tap1: { vrf: [ '1' ], address: [ '10.1.1.3' ] }",
      "in VRF 1: [ 'tap0' ]",
      'of 10.1.1.3: []',
    ]);
  });

  it('watch.ts gets each change, by callback and by channel', async () => {
    assert.deepEqual(await output('index-map/watch.ts'), [
      'callback: added tap0 in VRF 1',
      'callback: changed tap0 in VRF 2',
      'channel: added tap0 in VRF 1',
      'channel: changed tap0 in VRF 2',
      'channel: deleted tap0 in VRF 2',
    ]);
  });

  it('cache.ts follows a store, with an index that the store does not have', async () => {
    assert.deepEqual(await output('index-map/cache.ts'), [
      "on node2: [ 'default/db' ]",
      'moved: default/web to node2',
      "on node2: [ 'default/db', 'default/web' ]",
    ]);
  });
});

describe('examples/process-manager', { skip: withoutProgram('setpriv') }, () => {
  it('template.ts writes a template, from which the next program starts the process', async () => {
    assert.deepEqual(await output('process-manager/template.ts'), [
      'templates: sleeper',
      "alive: true command: sh [ '-c', 'exec sleep 60' ]",
      "status: terminated end: { code: undefined, signal: 'SIGTERM' }",
    ]);
  });
});

describe('examples/tracer', () => {
  it('measure.ts measures, and clears what it has read', async () => {
    assert.deepEqual(await output('tracer/measure.ts'), [
      'entries: 1 read, 2 read, 3 write',
      'averages of: read, write',
      'overall is the sum: true',
      'after clear: [ 4 ]',
    ]);
  });
});

describe('examples/log-levels', () => {
  it('levels.ts changes the level of one logger while it runs', async () => {
    assert.deepEqual(await output('log-levels/levels.ts'), [
      'reader debug: its level is in the configuration',
      'writer debug: now it is seen',
      'reader=debug writer=debug',
    ]);
  });
});

describe('examples/kube-state', () => {
  it('copy.ts makes the state of Kubernetes in one database that of another', async () => {
    const [from, to] = [join(temporaryFolder('kube'), 'from'), join(temporaryFolder('kube'), 'to')];
    const fill = async (folder: string, ...names: string[]) => {
      const store = await LevelStore.open({ folder });
      for (const name of names) await store.put(namespaceKey(name), namespaceText(name, 'x'));
      await store.close();
    };
    await fill(from, 'a', 'b');
    await fill(to, 'b', 'old');
    const keys = ['a', 'b'].map(namespaceKey);
    assert.deepEqual(await output('kube-state/copy.ts', from, to), keys);
    const copy = await LevelStore.open({ folder: to });
    const { entries } = await copy.list('');
    await copy.close();
    assert.deepEqual(
      entries.map(({ key }) => key),
      keys,
    );
  });
});
