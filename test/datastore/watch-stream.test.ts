import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import type { IWatchRequest, IWatchResponse } from 'etcd3';
import { WatchLostError } from '#datastore/api.ts';
import { WatchStream } from '#datastore/etcd/watch-stream.ts';
import { ManualClock } from '#infra/clock/manual.ts';

type Raw = ConstructorParameters<typeof WatchStream>[0];

/** The etcd side of a stream, controlled by the test. */
class FakeEtcd extends EventEmitter {
  readonly requests: IWatchRequest[] = [];
  cancelled = false;
  /** Whether progress requests are answered. */
  answers = true;

  write(request: IWatchRequest): void {
    this.requests.push(request);
    if (request.create_request) this.tell({ created: true });
    else if (this.answers) this.tell({});
  }

  cancel(): void {
    this.cancelled = true;
  }

  tell(response: Partial<IWatchResponse>): void {
    const empty = { created: false, canceled: false, compact_revision: '0', events: [] };
    queueMicrotask(() => this.emit('data', { ...empty, ...response }));
  }
}

async function guarded(answers: boolean) {
  const clock = new ManualClock();
  const etcd = new FakeEtcd();
  etcd.answers = answers;
  const stream = new WatchStream(etcd as unknown as Raw, new AbortController().signal);
  await stream.create('/a/', 5, clock, 1000);
  let isAlive = true;
  stream.detectSilence(clock, 3000, async () => {
    if (!isAlive) throw new Error('etcd is out of reach');
  });
  const ended = stream
    .read(() => undefined)
    .then(
      () => 'never',
      (error: Error) => error,
    );
  const die = () => {
    isAlive = false;
  };
  return { clock, etcd, stream, ended, die };
}

describe('a watch stream', () => {
  it('is lost when it is silent while etcd answers all other requests', async () => {
    const { clock, etcd, ended } = await guarded(true);
    await clock.advance(60_000);
    assert.equal(etcd.cancelled, false);
    assert.ok(etcd.requests.length > 4);
    etcd.answers = false;
    await clock.advance(20_000);
    const error = await ended;
    assert.ok(error instanceof WatchLostError);
    assert.match(error.message, /is silent/);
    assert.equal(etcd.cancelled, true);
    assert.equal(clock.pending, 0);
  });

  it('ends when etcd is unreachable: the next stream resumes from there', async () => {
    const { clock, etcd, ended, die } = await guarded(true);
    await clock.advance(5_000);
    etcd.answers = false;
    die();
    await clock.advance(20_000);
    const error = await ended;
    assert.ok(error instanceof Error && !(error instanceof WatchLostError));
    assert.match(error.message, /out of reach/);
    assert.equal(clock.pending, 0);
  });

  it('that pauses and resumes together with etcd continues', async () => {
    const { clock, etcd, stream } = await guarded(true);
    await clock.advance(5_000);
    etcd.answers = false;
    await clock.advance(11_500);
    etcd.answers = true;
    etcd.tell({});
    await clock.advance(60_000);
    assert.equal(etcd.cancelled, false);
    stream.end(new Error('enough'));
  });

  it('is not silent while changes arrive', async () => {
    const { clock, etcd, stream } = await guarded(true);
    await clock.advance(5_000);
    etcd.answers = false;
    for (let second = 0; second < 60; second++) {
      etcd.tell({ created: true });
      await clock.advance(1_000);
    }
    assert.equal(etcd.cancelled, false);
    stream.end(new Error('enough'));
    assert.equal(clock.pending, 0);
  });

  it('of an etcd without progress requests continues', async () => {
    const { clock, etcd, stream } = await guarded(false);
    await clock.advance(600_000);
    assert.equal(etcd.cancelled, false);
    stream.end(new Error('enough'));
  });
});
