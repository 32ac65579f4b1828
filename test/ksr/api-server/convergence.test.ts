import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkProperty } from '#test/support/random-cases.ts';
import { pod, pods, WatchedCluster } from '../support/watched-cluster.ts';

type Step = (watched: WatchedCluster) => void | Promise<void>;
interface NamedStep {
  readonly name: string;
  readonly run: Step;
}

const step = (name: string, run: Step): NamedStep => ({ name, run });

const names = fc.integer({ min: 0, max: 1500 });

const changes = fc.oneof(
  names.map((n) =>
    step(`put ${n}`, ({ cluster }) => void cluster.put(pods.path, pod(`pod-${n}`, { n }))),
  ),
  names.map((n) =>
    step(`delete ${n}`, ({ cluster }) => cluster.delete(pods.path, `pod-${n}`, 'default')),
  ),
  fc.tuple(names, fc.integer({ min: 1, max: 900 })).map(([from, count]) =>
    step(`put ${from} to ${from + count - 1}`, ({ cluster }) => {
      for (let n = from; n < from + count; n++) cluster.put(pods.path, pod(`pod-${n}`));
    }),
  ),
  fc.tuple(names, fc.integer({ min: 1, max: 900 })).map(([from, count]) =>
    step(`delete ${from} to ${from + count - 1}`, ({ cluster }) => {
      for (let n = from; n < from + count; n++) cluster.delete(pods.path, `pod-${n}`, 'default');
    }),
  ),
);

const invalidText = fc.constantFrom(
  'no JSON\n',
  '{"type":"AD',
  '{"type":"OTHER"}\n',
  '{"type":"ADDED","object":{}}\n',
  '{"type":"ERROR","object":{"code":500,"message":"internal"}}\n',
  '{"type":"ERROR","object":{"code":410,"message":"expired"}}\n',
);

const faults = fc.oneof(
  fc.constantFrom<NamedStep>(
    step('cut', ({ cluster }) => cluster.cut()),
    step('end watches', ({ cluster }) => cluster.endWatches()),
    step('compact', ({ cluster }) => cluster.compact()),
    step('bookmark', ({ cluster }) => cluster.bookmark()),
    step('suspend', ({ cluster }) => cluster.suspend()),
    step('resume', ({ cluster }) => cluster.resume()),
    step('restore an empty database', ({ cluster }) => {
      // Far enough for no later change to reach a version that the watch knows.
      cluster.restore(Math.floor(cluster.revision / 2));
    }),
    step('expired by status', ({ cluster }) => {
      cluster.expiredBy = 'status';
    }),
  ),
  invalidText.map((text) => step(`send ${text}`, ({ cluster }) => cluster.sendRaw(text))),
  fc
    .record({
      on: fc.constantFrom('list', 'watch'),
      status: fc.constantFrom(401, 403, 404, 410, 429, 500, 503),
      times: fc.integer({ min: 1, max: 3 }),
    })
    .map((fault) =>
      step(JSON.stringify(fault), ({ cluster }) => cluster.inject(fault as { on: 'list' })),
    ),
  fc
    .record({ cutAfter: fc.integer({ min: 0, max: 100_000 }) })
    .map((fault) =>
      step(JSON.stringify(fault), ({ cluster }) => cluster.inject({ on: 'list', ...fault })),
    ),
  invalidText.map((body) =>
    step(`watch answers ${body}`, ({ cluster }) => cluster.inject({ on: 'watch', body })),
  ),
  fc
    .constantFrom<'list' | 'watch'>('list', 'watch')
    .map((on) => step(`silent ${on}`, ({ cluster }) => cluster.inject({ on, isSilent: true }))),
);

const time = fc.oneof(
  fc.constant(step('settle', (watched) => watched.settle())),
  fc
    .constantFrom(0.1, 1, 5, 60, 700)
    .map((seconds) => step(`advance ${seconds} s`, (watched) => watched.advance(seconds))),
);

const steps = fc.array(
  fc.oneof(
    { arbitrary: changes, weight: 3 },
    { arbitrary: faults, weight: 2 },
    { arbitrary: time, weight: 3 },
  ),
  { maxLength: 30 },
);

const TITLE = 'after any changes and failures the consumer has the objects of the server';

test(TITLE, async () => {
  await checkProperty(
    { file: 'test/ksr/api-server/convergence.test.ts', name: TITLE },
    60,
    fc.asyncProperty(
      steps,
      fc.integer(),
      fc.integer({ min: 1, max: 20_000 }),
      async (sequence, seed, size) => {
        using watched = new WatchedCluster((cluster) => {
          cluster.restore(2 ** 40);
          cluster.pieceBytes = size;
          for (let n = 0; n < 700; n++) cluster.put(pods.path, pod(`pod-${n}`));
        }, seed);
        for (const { run } of sequence) await run(watched);
        watched.cluster.clearFaults();
        watched.cluster.resume();
        await watched.advance(300);
        await watched.settle();
        assert.equal(watched.watch.state, 'watching', watched.watch.error?.message);
        assert.deepEqual(watched.differences, []);
        // A version that nothing was reported for stays: the watch is open and quiet.
        watched.takeRequests();
        watched.view.calls.length = 0;
        watched.cluster.put(pods.path, pod('last'));
        await watched.settle();
        assert.deepEqual(watched.view.calls, ['changed 1']);
      },
    ),
  );
});
