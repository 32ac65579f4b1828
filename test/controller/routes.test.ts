import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { ManualClock } from '#infra/clock/manual.ts';
import { ErrBadRequest } from '#infra/http/route.ts';
import { HealingResync } from '#plugins/controller/api.ts';
import { EventHistory, type EventRecord } from '#plugins/controller/history.ts';
import { controllerRoutes } from '#plugins/controller/routes.ts';

const START = Date.UTC(2026, 0, 1);
const SECONDS = START / 1000;

function record(seqNum: number, followUpTo?: number): EventRecord {
  return {
    seqNum,
    start: START + seqNum * 10_000,
    end: START + seqNum * 10_000 + 1500,
    followUpTo,
    event: HealingResync.event({ type: 'after-error', error: 'e' }),
    description: 'Healing Resync (After error: e)',
    handlers: [{ handler: 'ipam', revert: false, change: '', error: 'bad' }],
    answers: [],
    transactionError: undefined,
    transaction: seqNum === 1 ? 5 : undefined,
  };
}

function make() {
  const history = new EventHistory({ ageMs: 1e9, permanentMs: 0, bytes: 1e6 }, new ManualClock());
  for (const n of [0, 1, 2, 3]) history.add(record(n, n === 2 ? 1 : undefined));
  const [route, resync] = controllerRoutes({
    clock: new ManualClock(),
    history,
    transaction: (seqNum) => ({ SeqNum: seqNum }),
    requestResync: () => {
      throw new Error('queue with resync requests is full');
    },
  });
  const get = async (text = '') => {
    const query: Record<string, string[]> = {};
    for (const [name, value] of new URLSearchParams(text)) query[name] = [value];
    const { status, body } = await route!.handle({ query, params: {}, body: undefined });
    if (!(body instanceof Readable)) return { status, body: body as { SeqNum: number }[] };
    return { status, body: (await json(body)) as { SeqNum: number }[] };
  };
  return { history, get, resync: resync! };
}

describe('/controller/event-history', () => {
  const numbers = async (query: string) =>
    (await make().get(query)).body?.map((r) => r.SeqNum) ?? null;

  it('selects by number, time, range, first and last, in this precedence', async () => {
    assert.deepEqual(await numbers(''), [0, 1, 2, 3]);
    assert.deepEqual(await numbers(`since=${SECONDS + 10}&until=${SECONDS + 20}`), [1, 2]);
    assert.deepEqual(await numbers(`since=${SECONDS + 22}`), [3]);
    assert.deepEqual(await numbers(`since=${SECONDS + 22}&until=${SECONDS + 5}&last=1`), null);
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
      Handlers: [{ Handler: 'ipam', Revert: false, Change: '', Error: {}, ErrorStr: 'bad' }],
      TxnError: null,
      TxnErrorStr: '',
      Txn: { SeqNum: 5 },
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
    const history = new EventHistory(limits, clock);
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
