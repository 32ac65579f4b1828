import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { systemClock } from '#infra/clock/system.ts';
import { LinuxError } from '#linux/api.ts';
import { kernelHost } from '#linux/kernel/host.ts';
import { until } from '#test/support/wait.ts';

const thread = new URL('threads/silent.ts', import.meta.url);

async function answerOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => assert.fail('succeeded'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof LinuxError, String(error));
  return `${error.errno}: ${error.message}`;
}

const ANSWERED = 'EPERM: test: 1 in batch 1';

describe('commands on the kernel', () => {
  test('of one turn are one batch; meanwhile, the next ones collect for another', async () => {
    const host = kernelHost({ clock: systemClock, thread });
    const first = Array.from({ length: 3 }, () => answerOf(host.deleteLink('/a', 'x')));
    assert.deepEqual(await Promise.all(first), Array(3).fill('EPERM: test: 3 in batch 1'));
    const many = Array.from({ length: 70 }, () => answerOf(host.deleteLink('/a', 'x')));
    const answers = await Promise.all(many);
    assert.deepEqual(answers.slice(0, 64), Array(64).fill('EPERM: test: 64 in batch 2'));
    assert.deepEqual(answers.slice(64), Array(6).fill('EPERM: test: 6 in batch 3'));
  });

  test('that exceed the time limit have an unknown outcome, and the next start another thread', async () => {
    const clock = new ManualClock();
    const host = kernelHost({ clock, thread, limitMs: 5000 });
    const before = answerOf(host.deleteLink('/a', 'w'));
    const silent = [
      answerOf(host.deleteLink('/silent', 'x')),
      answerOf(host.deleteLink('/silent', 'y')),
    ];
    let isAnswered = false;
    void before.then(() => {
      isAnswered = true;
    });
    await until('the first command has its answer', async () => {
      await clock.advance(0);
      return isAnswered;
    });
    assert.match(await before, /^EPERM/);
    await clock.advance(4999);
    const waiting = answerOf(host.deleteLink('/a', 'z'));
    await clock.advance(1);
    assert.deepEqual(
      await Promise.all(silent),
      ['x', 'y'].map(
        (name) =>
          `ETIMEDOUT: link ${name} in /silent: no answer within the time limit; the outcome is unknown`,
      ),
    );
    assert.equal(await waiting, ANSWERED);
    assert.equal(clock.pending, 0);
  });

  test('have their time limit from the moment when the thread has started', async () => {
    const host = kernelHost({ clock: systemClock, thread, limitMs: 200 });
    assert.equal(await answerOf(host.deleteLink('/a', 'x')), ANSWERED);
  });

  for (const [path, reason] of [
    ['/fatal', /the thread was ended/],
    ['/thrown', /a defect of the thread/],
    ['/memory', /memory/],
  ] as const)
    test(`whose thread dies (${path}) have an unknown outcome, and the next start another`, async () => {
      const host = kernelHost({ clock: systemClock, thread });
      const answer = await answerOf(host.deleteLink(path, 'x'));
      assert.match(answer, /^ETIMEDOUT: link x in .*; the outcome is unknown$/);
      assert.match(answer, reason);
      assert.equal(await answerOf(host.deleteLink('/a', 'x')), ANSWERED);
    });

  test('whose thread cannot start say why', async () => {
    const missing = new URL('threads/missing.ts', import.meta.url);
    const host = kernelHost({ clock: systemClock, thread: missing });
    for (let i = 0; i < 2; i++)
      assert.match(await answerOf(host.deleteLink('/a', 'x')), /Cannot find module/);
  });

  test('leave an idle process free to end', async () => {
    const host = kernelHost({ clock: systemClock, thread });
    await answerOf(host.deleteLink('/a', 'x'));
    // otherwise the test runner waits for the thread
    assert.ok(!process.getActiveResourcesInfo().includes('MessagePort'));
  });
});
