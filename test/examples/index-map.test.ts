/** Runs the examples of index maps as a reader of them would. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

const FOLDER = join(import.meta.dirname, '../../examples/index-map');

async function output(example: string): Promise<string[]> {
  const run = promisify(execFile)(process.execPath, [join(FOLDER, example)], { timeout: 60_000 });
  const { stdout, stderr } = await run;
  assert.equal(stderr, '');
  return stdout.trimEnd().split('\n');
}

describe('examples/index-map', () => {
  it('lookup.ts finds items by name and by secondary index', async () => {
    assert.deepEqual(await output('lookup.ts'), [
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
    assert.deepEqual(await output('watch.ts'), [
      'callback: added tap0 in VRF 1',
      'callback: changed tap0 in VRF 2',
      'channel: added tap0 in VRF 1',
      'channel: changed tap0 in VRF 2',
      'channel: deleted tap0 in VRF 2',
    ]);
  });

  it('cache.ts follows a store, with an index that the store does not have', async () => {
    assert.deepEqual(await output('cache.ts'), [
      "on node2: [ 'default/db' ]",
      'moved: default/web to node2',
      "on node2: [ 'default/db', 'default/web' ]",
    ]);
  });
});
