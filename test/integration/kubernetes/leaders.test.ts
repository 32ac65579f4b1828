/** Several contiv-ksr on one etcd: one of them writes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '#infra/clock/manual.ts';
import { withoutKubernetes, withoutOriginalKsr } from '#test/support/requirements.ts';
import { until } from '#test/support/wait.ts';
import { RealKsr } from '../support/ksr.ts';
import { OriginalKsr } from '../support/original-ksr.ts';
import { RandomChanges } from '../support/random-changes.ts';
import { Reflection } from '../support/reflection.ts';

describe('two contiv-ksr', { skip: withoutKubernetes(), timeout: 240_000 }, () => {
  let reflection: Reflection;
  let changes: RandomChanges;
  let both: readonly [RealKsr, RealKsr];
  before(async () => {
    reflection = await Reflection.start();
    changes = new RandomChanges(reflection.client, seededRandom(3));
    await reflection.ksr.whenLeading();
    const second = await RealKsr.create(reflection.ksrOptions);
    second.run();
    both = [reflection.ksr, second];
    await second.whenReady();
  });
  after(async () => {
    await both?.[1][Symbol.asyncDispose]();
    await reflection?.[Symbol.asyncDispose]();
  });

  const leaders = async () => {
    const leads = await Promise.all(both.map((ksr) => ksr.leads()));
    return both.filter((_, at) => leads[at]);
  };

  it('one leads, the other one writes nothing', async () => {
    await changes.make(200);
    await reflection.assertConverges();
    assert.deepEqual(await leaders(), [both[0]]);
    const writes = await both[1].get('/metrics');
    const sum = [...writes!.matchAll(/^contiv_ksr_writes_total\{.*\} (\d+)$/gm)]
      .map(([, count]) => Number(count))
      .reduce((a, b) => a + b, 0);
    assert.equal(sum, 0);
  });

  it('the other one continues when the leader is killed in the middle of changes', async () => {
    const made = changes.make(200);
    await both[0].end('SIGKILL');
    await made;
    await both[1].whenLeading();
    await reflection.assertConverges();
    both[0].run();
    await both[0].whenReady();
    assert.deepEqual(await leaders(), [both[1]]);
  });

  it('the other one continues at once when the leader is stopped', async () => {
    await both[1].end('SIGTERM');
    const start = performance.now();
    await both[0].whenLeading();
    // The lease of a killed leader lasts 5 s.
    assert.ok(performance.now() - start < 4_000, `${performance.now() - start} ms`);
    await changes.make(100);
    await reflection.assertConverges();
    both[1].run();
    await both[1].whenReady();
  });

  it('a leader that was suspended while the other one took over writes nothing more', async () => {
    const [leader] = await leaders();
    const follower = both.find((ksr) => ksr !== leader)!;
    await leader!.suspend();
    const made = changes.make(200);
    await follower.whenLeading();
    leader!.resume();
    await made;
    await reflection.assertConverges();
    await until('one leads', async () => (await leaders()).length === 1);
  });
});

const limits = { skip: withoutKubernetes() || withoutOriginalKsr(), timeout: 240_000 };

it("waits while the original's reflector leads, and takes over its records", limits, async () => {
  await using resources = new AsyncDisposableStack();
  const reflection = resources.use(await Reflection.start('not started'));
  const { etcd, kubeconfig } = reflection.ksrOptions;
  const original = resources.use(await OriginalKsr.start(etcd, kubeconfig));
  await until('the original leads', async () => (await reflection.stored()).size > 0, 60_000);
  reflection.ksr.run();
  await reflection.ksr.whenReady();
  await sleep(3_000);
  assert.equal(await reflection.ksr.leads(), false);
  await original[Symbol.asyncDispose]();
  // Its lease lasts a minute.
  await reflection.ksr.whenLeading();
  await reflection.assertConverges();
});
