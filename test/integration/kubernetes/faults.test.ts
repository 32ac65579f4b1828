/**
 * contiv-ksr under faults of the API server, of etcd and of itself, in the middle of random changes: at
 * the end, etcd and an agent have exactly what the API server has.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '#infra/clock/manual.ts';
import { withoutEtcdctl, withoutKubernetes } from '#test/support/requirements.ts';
import { RandomChanges } from '../support/random-changes.ts';
import { Reflection } from '../support/reflection.ts';

const limits = { skip: withoutKubernetes() || withoutEtcdctl(), timeout: 300_000 };
/** Long enough that requests fail, and that changes pile up. */
const OUTAGE_MS = 1_000;

describe('contiv-ksr in the middle of changes', limits, () => {
  let reflection: Reflection;
  let changes: RandomChanges;
  before(async () => {
    reflection = await Reflection.start();
    changes = new RandomChanges(reflection.client, seededRandom(2));
  });
  after(() => reflection?.[Symbol.asyncDispose]());

  /** Runs the faults while changes are made, one after the other. */
  async function during(count: number, ...faults: (() => Promise<void>)[]): Promise<void> {
    const first = changes.accepted;
    let isMade = false;
    const made = changes.make(count).then(() => {
      isMade = true;
    });
    for (const [at, fault] of faults.entries()) {
      const due = first + ((at + 1) * count) / (faults.length + 1);
      while (changes.accepted < due && !isMade) await sleep(5);
      await fault();
    }
    await made;
  }

  const killApiServer = async () => {
    await reflection.apiServer.kill();
    await sleep(OUTAGE_MS);
    await reflection.apiServer.run();
  };
  const killEtcd = async () => {
    await reflection.etcd.kill();
    await sleep(OUTAGE_MS);
    await reflection.etcd.run();
  };
  const killKubeEtcd = async () => {
    await reflection.kubeEtcd.kill();
    await sleep(OUTAGE_MS);
    await reflection.kubeEtcd.run();
  };
  const killKsr = async () => {
    await reflection.ksr.end('SIGKILL');
    await sleep(OUTAGE_MS);
    reflection.ksr.run();
  };

  it('loses nothing of 1,000 changes when API server, etcd and contiv-ksr are killed in turn', async () => {
    await during(1_000, killApiServer, killEtcd, killKsr, killKubeEtcd);
    const records = await reflection.assertConverges();
    assert.ok(records.size > 100);
  });

  it('loses nothing when each of them is suspended in turn', async () => {
    const { apiServer, etcd, ksr } = reflection;
    const suspended = (process: { suspend(): Promise<void>; resume(): void }) => async () => {
      await process.suspend();
      // Longer than the lease of the leader.
      await sleep(6_000);
      process.resume();
    };
    await during(300, suspended(apiServer), suspended(etcd), suspended(ksr));
    await reflection.assertConverges();
  });

  it('writes everything again when etcd is wiped', async () => {
    await during(200, async () => {
      await reflection.etcd.wipe();
      await reflection.etcd.run();
    });
    await reflection.assertConverges();
  });

  it('corrects an etcd that was restored from a backup', async () => {
    await reflection.assertConverges();
    const folder = mkdtempSync(join(tmpdir(), 'backup-'));
    try {
      const backup = join(folder, 'etcd');
      reflection.etcd.backup(backup);
      await during(200, async () => {
        await reflection.etcd.restore(backup);
        await reflection.etcd.run();
      });
      await reflection.assertConverges();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('does not need the history of etcd', async () => {
    await during(100, async () => {
      await reflection.ksr.suspend();
      await changes.make(50);
      await reflection.etcd.compact();
      reflection.ksr.resume();
    });
    await reflection.assertConverges();
  });

  it('writes nothing when it lists everything again and nothing has changed', async () => {
    await reflection.assertConverges();
    const writes = await reflection.writesDuring(async () => {
      await killApiServer();
      await killKsr();
      await reflection.ksr.whenLeading();
      await reflection.assertConverges();
      await sleep(2_000);
    });
    assert.deepEqual(writes, []);
  });

  it('repairs records that another program has changed, deleted and added', async () => {
    const records = await reflection.assertConverges();
    const [changed, deleted] = [...records.keys()];
    await reflection.write(changed!, '{}');
    await reflection.write(deleted!, undefined);
    await reflection.write(`${changed}-invented`, records.get(changed!)!);
    await reflection.assertConverges();
  });
});
