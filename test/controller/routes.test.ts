import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { json, text as streamText } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { ErrBadRequest } from '#infra/http/route.ts';
import { silentLogger } from '#infra/log/log.ts';
import { EventHistory } from '#plugins/controller/history.ts';
import type { EventRecord } from '#plugins/controller/record.ts';
import { controllerRoutes } from '#plugins/controller/routes.ts';
import { Verification } from '#plugins/controller/verification.ts';

const START = Date.UTC(2026, 0, 1);
const SECONDS = START / 1000;

function record(seqNum: number, followUpTo?: number): EventRecord {
  return {
    seqNum,
    start: START + seqNum * 10_000,
    end: START + seqNum * 10_000 + 1500,
    followUpTo,
    id: 'healing-resync',
    name: 'Healing Resync',
    method: 0,
    description: 'Healing Resync (After error: e)',
    handlers: [{ handler: 'ipam', revert: false, change: '', error: 'bad', tookMs: 2 }],
    transactionError: undefined,
    transaction: seqNum === 1 ? 5 : undefined,
    trace: {
      origin: seqNum === 2 ? { key: '/k', revision: '7' } : undefined,
      queuedMs: 1,
      totalMs: 1501,
      commitMs: seqNum === 1 ? 4 : undefined,
      transaction:
        seqNum === 1 ? { readingMs: 0, planningMs: 1, executionMs: 2.5, operations: 3 } : undefined,
    },
  };
}

const makeHistory = (
  limits = { ageMs: 1e9, permanentMs: 0, bytes: 1e6 },
  clock = new ManualClock(),
) => new EventHistory(limits, clock, silentLogger);

function make(count = 4) {
  const clock = new ManualClock();
  const history = makeHistory();
  for (let n = 0; n < count; n++) history.add(record(n, n === 2 ? 1 : undefined));
  const [route, verification, resync] = controllerRoutes({
    clock,
    verification: new Verification(clock, silentLogger),
    verifies: true,
    history,
    transaction: (seqNum) => ({ SeqNum: seqNum }),
    requestResync: () => {
      throw new Error('queue with resync requests is full');
    },
  });
  const get = async (text = '') => {
    const query: Record<string, string[]> = {};
    const given = new URLSearchParams(text);
    for (const name of given.keys()) query[name] = given.getAll(name);
    const { status, body, contentType } = await route!.handle({
      query,
      params: {},
      body: undefined,
    });
    if (!(body instanceof Readable)) return { status, body: body as { SeqNum: number }[] };
    if (contentType?.startsWith('text/plain'))
      return { status, body: [] as { SeqNum: number }[], text: await streamText(body) };
    return { status, body: (await json(body)) as { SeqNum: number }[] };
  };
  return { history, get, verification: verification!, resync: resync! };
}

describe('/controller/event-history', () => {
  const numbers = async (query: string) =>
    (await make().get(query)).body?.map((r) => r.SeqNum) ?? null;

  it('selects by number, time, range, first and last, in this precedence', async () => {
    assert.deepEqual(await numbers(''), [0, 1, 2, 3]);
    assert.deepEqual(await numbers(`since=${SECONDS + 10}&until=${SECONDS + 20}`), [1, 2]);
    assert.deepEqual(await numbers(`since=${SECONDS + 22}`), [3]);
    assert.deepEqual(await numbers(`since=${SECONDS + 22}&until=${SECONDS + 5}&last=1`), []);
    assert.deepEqual(await numbers('from=1&to=2&first=1'), [1, 2]);
    assert.deepEqual(await numbers('first=2&last=1'), [0, 1]);
    assert.deepEqual(await numbers('last=1'), [3]);
  });

  it('writes the record of the Go agent', async () => {
    const { get } = make();
    assert.deepEqual((await get('seq-num=1')).body, {
      SeqNum: 1,
      ProcessingStart: '2026-01-01T00:00:10Z',
      ProcessingEnd: '2026-01-01T00:00:11.5Z',
      IsFollowUp: false,
      FollowUpTo: 0,
      Name: 'Healing Resync',
      Description: 'Healing Resync (After error: e)',
      Method: 0,
      Handlers: [
        { Handler: 'ipam', Revert: false, Change: '', Error: {}, ErrorStr: 'bad', TookMs: 2 },
      ],
      TxnError: null,
      TxnErrorStr: '',
      Txn: { SeqNum: 5 },
      Trace: {
        Origin: null,
        QueuedMs: 1,
        TotalMs: 1501,
        CommitMs: 4,
        Transaction: { ReadingMs: 0, PlanningMs: 1, ExecutionMs: 2.5, Operations: 3 },
      },
    });
  });

  it('names an unknown number and a bad argument', async () => {
    const { get, resync } = make();
    assert.equal((await get('seq-num=9')).status, 404);
    await assert.rejects(get('last=x'), ErrBadRequest);
    const refused = await resync.handle({ query: {}, params: {}, body: undefined });
    assert.deepEqual(refused, {
      status: 500,
      body: { Error: 'queue with resync requests is full' },
    });
  });
});

describe('event history', () => {
  it('drops by age, except the first period, and by bytes above all', async () => {
    const clock = new ManualClock(START);
    const limits = { ageMs: 60_000, permanentMs: 15_000, bytes: 10_000 };
    const history = makeHistory(limits, clock);
    for (const n of [0, 1, 2, 3]) history.add(record(n));
    await clock.advance(91_400);
    history.trim();
    assert.deepEqual(
      history.records.map((r) => r.seqNum),
      [0, 1, 3],
    );
    for (let n = 4; n < 100; n++) history.add(record(n));
    assert.ok(history.bytes <= limits.bytes);
    assert.equal(history.records.at(-1)!.seqNum, 99);
    assert.ok(history.records.length > 5);
  });
});
