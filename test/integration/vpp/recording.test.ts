/** A recording of an agent on a real VPP, etcd and kernel is replayed without them. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { replayedParts } from '#cmd/agent/replay.ts';
import { readRecording, recordingFiles } from '#plugins/controller/recording/recording-reader.ts';
import { replayRecording } from '#plugins/controller/recording/replay.ts';
import { withoutNodes } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealNode } from '../support/node.ts';
import { isReachable } from '../support/traffic.ts';

describe('a recording on a real VPP', { skip: withoutNodes(), timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'runs-'));
  after(() => rmSync(folder, { recursive: true }));

  it('replays to the same transactions, including kills of the agent and of VPP', async (t) => {
    await using node = await RealNode.create({ controller: { 'record-run': folder } });
    await node.agent.start();
    const web = await node.pod('web');
    await node.reflect('web', web.address);
    await node.agent.end('SIGKILL');
    await node.agent.start();
    const db = await node.pod('db');
    await node.vpp.kill();
    await node.vpp.start();
    await until('VPP is configured again', () => isReachable(web, db.address), 30_000);
    assert.equal((await node.agent.delete(db)).error, '');
    await node.unreflect('web');
    assert.equal((await node.agent.delete(web)).error, '');
    await node.agent.end('SIGTERM');

    const files = await recordingFiles(folder);
    assert.equal(files.length, 2);
    for (const file of files) {
      const { events, transactions, differences } = await replayRecording(
        await readRecording(file),
        replayedParts,
      );
      assert.deepEqual(differences, []);
      assert.ok(events > 1 && transactions > 1, `${events} events, ${transactions} transactions`);
      t.diagnostic(`${events} events and ${transactions} transactions replayed`);
    }
  });
});
