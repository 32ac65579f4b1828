import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLogger } from '#infra/log/log.ts';
import type { EventHandler } from '#plugins/controller/api/event-handler.ts';
import {
  emptyResync,
  handler,
  makeController,
  eventKindsOf as names,
  settle,
  startedController as started,
} from './controller-harness.ts';
import { Note, Undo } from './test-events.ts';

interface Found {
  readonly Enabled: boolean;
  readonly Resyncs: number;
  readonly InternalDataDifferences: number;
  readonly ConfigurationDifferences: number;
  readonly Differences: readonly Record<string, unknown>[];
}
const foundBy = (bench: ReturnType<typeof makeController>) =>
  bench.controller.verification.document(true) as Found;

function verified(handlers: readonly EventHandler[], said: unknown[] = []) {
  return makeController(handlers, {
    config: { enableVerification: true },
    log: { ...silentLogger, error: (fields: unknown) => void said.push(fields) },
  });
}

describe('verification', () => {
  it('follows each event that went well, and nothing follows it [R7.1]', async () => {
    const bench = await started([handler('a', [])], { config: { enableVerification: true } });
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    assert.deepEqual(names(bench), [
      'database-resync',
      'verification-resync',
      'note',
      'verification-resync',
    ]);
  });

  it('does not follow what is to be healed, nor a Shutdown [R7.1]', async () => {
    const bench = verified([
      handler('a', [], {
        update: ({ event }) => {
          if (Note.is(event)) throw new Error('no');
        },
      }),
    ]);
    bench.controller.push(emptyResync);
    bench.controller.push(Note.event({ n: 1 }));
    bench.controller.push(Undo.event({ n: 1 }));
    await settle();
    await bench.controller.close({ cleanup: false });
    assert.deepEqual(names(bench), [
      'database-resync',
      'verification-resync',
      'note',
      'undo',
      'verification-resync',
      'shutdown',
    ]);
    const { method, followUpTo } = bench.controller.history.records[1]!;
    assert.deepEqual([method, followUpTo], [2, 0]);
  });

  it('reports internal data that were out of sync: logged, counted, shown [R7.2] [R7.4]', async () => {
    let pods = ['web'];
    const said: unknown[] = [];
    const bench = verified(
      [
        handler('good', [], { describeInternalData: () => 'always the same' }),
        handler('silent', []),
        handler('bad', [], {
          resync: () => {
            pods = ['web'];
          },
          update: () => {
            pods.push('lost');
          },
          describeInternalData: () => pods.join(),
        }),
      ],
      said,
    );
    bench.controller.push(emptyResync);
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    assert.deepEqual(said, [{ handler: 'bad', before: 'web,lost', after: 'web' }]);
    const { Differences, ...counts } = foundBy(bench);
    assert.deepEqual(counts, {
      Enabled: true,
      Resyncs: 2,
      InternalDataDifferences: 1,
      ConfigurationDifferences: 0,
    });
    assert.deepEqual(Differences, [
      {
        SeqNum: 3,
        FollowUpTo: 2,
        Time: '2026-01-01T00:00:00Z',
        Handler: 'bad',
        Before: 'web,lost',
        After: 'web',
      },
    ]);
    assert.deepEqual(
      bench.states.at(-1),
      ['ok', undefined],
      'it is reported, and the state does not change',
    );
  });

  it('reports operations on VPP or Linux: logged, counted, shown [R7.3] [R7.4]', async () => {
    const said: unknown[] = [];
    const bench = verified([handler('a', [])], said);
    const operation = { Operation: 'CREATE', Key: 'config/x', NewValue: 'big' };
    const nothing = { ...operation, NOOP: true };
    bench.sink.record = (seqNum) => ({
      Executed: seqNum === 1 ? [operation, nothing, operation] : [nothing],
    });
    bench.controller.push(emptyResync);
    bench.controller.push(Note.event({ n: 1 }));
    await settle();
    assert.deepEqual(said, [{ transaction: 1, operations: 2 }]);
    const { Differences, ConfigurationDifferences } = foundBy(bench);
    assert.equal(ConfigurationDifferences, 1);
    const shown = { Operation: 'CREATE', Key: 'config/x' };
    assert.deepEqual(Differences, [
      {
        SeqNum: 1,
        FollowUpTo: 0,
        Time: '2026-01-01T00:00:00Z',
        Transaction: 1,
        Operations: [shown, shown],
        OperationCount: 2,
      },
    ]);
    assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
  });

  it('keeps the last hundred differences and no more of each than is of use [R7.2]', async () => {
    let n = 0;
    const bench = verified([
      handler('a', [], { describeInternalData: () => `${n++}`.padEnd(10_000, '.') }),
    ]);
    bench.controller.push(emptyResync);
    for (let i = 0; i < 150; i++) bench.controller.push(Note.event({ n: i }));
    await settle();
    const { Differences, InternalDataDifferences } = foundBy(bench);
    assert.equal(InternalDataDifferences, 151);
    assert.equal(Differences.length, 100);
    assert.equal(Differences.at(-1)!['SeqNum'], 301);
    assert.match(String(Differences[0]!['Before']), /… \(5904 more characters\)$/);
  });

  it('survives a handler that cannot describe its data [R7.2]', async () => {
    let n = 0;
    const bench = verified([
      handler('a', [], {
        describeInternalData: () => {
          throw new Error(`odd ${n++}`);
        },
      }),
    ]);
    bench.controller.push(emptyResync);
    await settle();
    assert.match(String(foundBy(bench).Differences[0]!['Before']), /threw Error: odd 0/);
    assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
  });

  it('is off by default', async () => {
    const bench = await started([handler('a', [])]);
    assert.deepEqual(names(bench), ['database-resync']);
    assert.equal(foundBy(bench).Resyncs, 0);
  });
});
