import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IWatchResponse } from 'etcd3';
import fc from 'fast-check';
import type { KvChange } from '#datastore/api.ts';
import { positionOf } from '#datastore/etcd/database-identity.ts';
import { WatchProgress } from '#datastore/etcd/watch-progress.ts';

interface Told {
  readonly revision: number;
  readonly key: string;
}

function response(events: readonly Told[], fragment: boolean, header = 1_000_000): IWatchResponse {
  const made = {
    // Runs ahead of the events, as etcd's does while a stream catches up.
    header: { revision: `${header}` },
    fragment,
    events: events.map(({ revision, key }) => ({
      type: 'Put',
      kv: { key: Buffer.from(key), value: Buffer.from(key), mod_revision: `${revision}` },
    })),
  };
  return made as unknown as IWatchResponse;
}

/** Transactions of one to four changes at ascending revisions with gaps. */
const history = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 4 })), {
    minLength: 1,
    maxLength: 20,
  })
  .map((transactions) => {
    const told: Told[] = [];
    let revision = 10;
    for (const [step, size] of transactions) {
      revision += step;
      for (let at = 0; at < size; at++) told.push({ revision, key: `${revision}/${at}` });
    }
    return told;
  });

/** Ends of streams, ends of responses, and whether a response is truncated. */
const cuts = fc.array(
  fc.record({
    take: fc.integer({ min: 1, max: 7 }),
    broken: fc.boolean(),
    repeat: fc.nat({ max: 3 }),
  }),
  { minLength: 1, maxLength: 40 },
);

describe('WatchProgress', () => {
  it('delivers every change once and in order, with any disconnects', () => {
    fc.assert(
      fc.property(history, cuts, (told, plan) => {
        const replay = new WatchProgress({ epoch: 1, revision: 10, partial: 0 });
        const heard: KvChange[] = [];
        let at = 0;
        let step = 0;
        let torn = false;
        /** Going back in time a stream begins with a whole transaction. */
        const backBy = (from: number, count: number) => {
          if (count === 0) return from;
          const { revision } = told[Math.max(0, from - count)]!;
          return told.findIndex((event) => event.revision === revision);
        };
        const open = () => {
          const { next } = replay;
          at = told.findIndex(({ revision }) => revision >= next);
          if (at < 0) at = told.length;
        };
        open();
        for (let guard = 0; at < told.length && guard < 1000; guard++) {
          // Once the plan is used up the streams behave, so that an end is reached.
          const { take, broken, repeat } =
            step < plan.length ? plan[step++]! : { take: told.length, broken: false, repeat: 0 };
          const from = backBy(at, torn ? 0 : repeat);
          const end = Math.min(told.length, at + take);
          const within = end < told.length && told[end]!.revision === told[end - 1]!.revision;
          heard.push(...replay.accept(response(told.slice(from, end), within), 1));
          at = end;
          torn = within && !broken;
          if (broken) open();
        }
        assert.deepEqual(
          heard.map(({ key }) => key),
          told.map(({ key }) => key),
        );
      }),
    );
  });

  it('resumes from the revision of any change', () => {
    fc.assert(
      fc.property(history, (told) => {
        const start = { epoch: 1, revision: 10, partial: 0 };
        const all = new WatchProgress(start).accept(response(told, false), 1);
        for (const [at, { revision }] of all.entries()) {
          const rest = new WatchProgress(positionOf(revision));
          const { next } = rest;
          const replayed = told.filter((event) => event.revision >= next);
          assert.deepEqual(
            rest.accept(response(replayed, false), 1).map(({ key }) => key),
            told.slice(at + 1).map(({ key }) => key),
          );
        }
      }),
    );
  });

  it('keeps the fragments of a transaction together', () => {
    const replay = new WatchProgress({ epoch: 1, revision: 0, partial: 0 });
    const parts = ['a', 'b', 'c', 'd'].map((key) => ({ revision: 2, key }));
    const first = [{ revision: 1, key: 'x' }, ...parts.slice(0, 1)];
    assert.deepEqual(
      replay.accept(response(first, true), 1).map(({ key }) => key),
      ['x'],
    );
    assert.deepEqual(replay.accept(response(parts.slice(1, 3), true), 1), []);
    assert.deepEqual(
      replay.accept(response(parts.slice(3), false), 1).map(({ key }) => key),
      ['a', 'b', 'c', 'd'],
    );
  });
});
