import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { json, text as streamText } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import type { RecordedTransaction } from '#documents/scheduler/transaction-record.ts';
import { ManualClock } from '#infra/clock/manual.ts';
import { answer } from '#infra/http/route.ts';
import { silentLogger } from '#infra/log/log.ts';
import { controllerRoutes } from '#plugins/controller/routes.ts';
import { Verification } from '#plugins/controller/verification.ts';
import { makeHistory, record, seconds } from './history-records.ts';

const clock = new ManualClock();
const routesDeps = {
  clock,
  verification: new Verification(clock, silentLogger),
  verificationEnabled: true,
  transaction: (SeqNum: number) => ({ SeqNum }) as RecordedTransaction,
  requestResync: () => {
    throw new Error('queue with resync requests is full');
  },
};

function make(count = 4) {
  const history = makeHistory();
  for (let n = 0; n < count; n++) history.add(record(n, n === 2 ? 1 : undefined));
  const [route, verification, resync] = controllerRoutes({ ...routesDeps, history });
  const get = async (text = '') => {
    const query: Record<string, string[]> = {};
    const given = new URLSearchParams(text);
    for (const name of given.keys()) query[name] = given.getAll(name);
    const { status, body, contentType } = await answer(route!, {
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

  it('selects by number, time, range, first and last, in this precedence [R9.1] [R9.2] [R9.3] [R9.4]', async () => {
    assert.deepEqual(await numbers(''), [0, 1, 2, 3]);
    assert.deepEqual(await numbers(`since=${seconds + 10}&until=${seconds + 20}`), [1, 2]);
    assert.deepEqual(await numbers(`since=${seconds + 22}`), [3]);
    assert.deepEqual(await numbers(`since=${seconds + 22}000000000`), [3]);
    assert.deepEqual(await numbers(`since=${seconds + 22}&until=${seconds + 5}&last=1`), []);
    assert.deepEqual(await numbers('from=1&to=2&first=1'), [1, 2]);
    assert.deepEqual(await numbers('first=2&last=1'), [0, 1]);
    assert.deepEqual(await numbers('last=1'), [3]);
    assert.deepEqual(await numbers('last=0'), []);
    assert.deepEqual(await numbers('first=0'), []);
    assert.deepEqual(await numbers('last=99'), [0, 1, 2, 3]);
    assert.deepEqual(await numbers('from=2'), [0, 1, 2, 3], 'a range needs both of its ends');
    assert.deepEqual(await numbers('from=2&last=1'), [3]);
    assert.deepEqual(await numbers('from=2&to=1'), []);
  });

  it('writes the record of the Go agent and its trace [R8.1] [R8.2] [R8.3] [R8.4] [R8.9]', async () => {
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
        {
          Handler: 'ipam',
          Revert: false,
          Change: '',
          Error: {},
          ErrorStr: 'bad',
          StartMs: 1,
          TookMs: 2,
        },
      ],
      TxnError: null,
      TxnErrorStr: '',
      Txn: { SeqNum: 5 },
      Trace: {
        Origin: null,
        QueuedMs: 1,
        TotalMs: 1501,
        CommitStartMs: 3,
        CommitMs: 4,
        Transaction: {
          SeqNum: 5,
          QueuedMs: 0.25,
          ReadingMs: 0,
          PlanningMs: 1,
          WritingMs: 0,
          ExecutionMs: 2.5,
          Operations: 3,
        },
      },
    });
  });

  it('leaves out the record of a transaction on demand', async () => {
    const { get } = make();
    const read = async (query: string) => JSON.stringify((await get(query)).body);
    assert.match(await read('seq-num=1&txn=true'), /"Txn":\{"SeqNum":5\}/);
    for (const query of ['seq-num=1&txn=false', 'txn=false']) {
      assert.match(await read(query), /"Transaction":\{"SeqNum":5/, query);
      assert.doesNotMatch(await read(query), /"Txn":\{/, query);
    }
  });

  it('names an unknown number and a bad argument [R9.1] [R9.5]', async () => {
    const { get } = make();
    assert.equal((await get('seq-num=9')).status, 404);
    assert.equal((await get(`since=${seconds}&seq-num=9`)).status, 404);
    const senseless = ['seq-num=-1', 'last=x', 'first=1.5', 'from=a&to=2', 'since=yesterday'];
    for (const query of [
      ...senseless,
      'until=2026-13-01T00:00:00Z',
      'last=',
      'format=xml',
      'txn=no',
    ])
      assert.equal((await get(query)).status, 400, query);
    const { status } = await get(`since=${seconds}&last=x`);
    assert.equal(status, 400, 'also where it decides nothing');
  });

  it('takes seconds and RFC 3339, and what overlaps the window at all [R9.2]', async () => {
    const window = (since: string, until: string) =>
      numbers(`since=${encodeURIComponent(since)}&until=${encodeURIComponent(until)}`);
    assert.deepEqual(await window('2026-01-01T00:00:10Z', '2026-01-01T00:00:20Z'), [1, 2]);
    assert.deepEqual(await window('2026-01-01T02:00:10+02:00', `${seconds + 10}`), [1]);
    assert.deepEqual(await window('2026-01-01T00:00:11.5Z', '2026-01-01T00:00:19.999Z'), [1]);
    assert.deepEqual(await window('2026-01-01T00:00:11.501Z', '2026-01-01T00:00:19.999Z'), []);
  });

  it('takes an argument that is there twice for none [R9.6]', async () => {
    assert.deepEqual(await numbers('last=1&last=2'), [0, 1, 2, 3]);
    assert.deepEqual(await numbers('last=x&last=2&first=1'), [0]);
  });

  it('of nothing is an empty list [R9.7]', async () => {
    assert.deepEqual((await make(0).get('')).body, []);
    assert.deepEqual((await make(0).get('last=5')).body, []);
    assert.equal((await make(0).get('seq-num=0')).status, 404);
  });

  it('shows a follow-up and its origin [R8.3] [R8.9]', async () => {
    const { body } = await make().get('seq-num=2');
    const record = body as unknown as Record<string, unknown>;
    assert.deepEqual([record['IsFollowUp'], record['FollowUpTo']], [true, 1]);
    const { Origin } = record['Trace'] as { Origin: object };
    assert.deepEqual(Origin, { Key: '/k', Revision: '7' });
  });

  it('is text for the eye on demand, of one record and of many [R9.8]', async () => {
    const { get } = make();
    const one = await get('seq-num=1&format=text');
    assert.equal(
      one.text,
      [
        '#1 2026-01-01T00:00:10Z Healing Resync (After error: e)',
        '  FullResync, took 1500ms, queued 1.00ms, total 1501ms',
        '  ipam 2.00ms: ERROR: bad',
        '  transaction #5 4.00ms: reading 0.00ms, planning 1.00ms, execution 2.50ms, 3 operations',
        '',
        '',
      ].join('\n'),
    );
    const two = (await get('from=2&to=3&format=text')).text!;
    assert.match(two, /^#2 .* \(follow-up to #1\)$/m);
    assert.match(two, /, caused by \/k, revision 7$/m);
    assert.match(two, /^#3 /m);
    assert.equal((await make(0).get('format=text')).text, 'No events.\n');
    assert.equal((await get('seq-num=9&format=text')).status, 404);
  });

  it('finds the last twenty of 100,000 without looking at the others [R9.4]', async () => {
    let looked = 0;
    const history = makeHistory({ ageMs: 1e9, permanentMs: 0, bytes: 1e9 });
    for (let n = 0; n < 100_000; n++) {
      const plain = record(n);
      history.add({
        ...plain,
        get handlers() {
          looked++;
          return plain.handlers;
        },
      });
    }
    looked = 0;
    const [route] = controllerRoutes({ ...routesDeps, history });
    const { body } = await route!.handle({ query: { last: ['20'] }, params: {}, body: undefined });
    const shown = (await json(body as Readable)) as { SeqNum: number }[];
    assert.deepEqual([shown.length, shown[0]!.SeqNum], [20, 99_980]);
    assert.ok(looked <= 20, `${looked} records were looked at`);
    assert.equal(history.bySeqNum(77_777)!.seqNum, 77_777);
  });
});

describe('/controller/resync', () => {
  it('dispatches a request, or says why not [R9.9]', async () => {
    const request = { query: {}, params: {}, body: undefined };
    const refused = await answer(make().resync, request);
    assert.ok(refused.status >= 400);
    assert.deepEqual(refused.body, { Error: 'queue with resync requests is full' });
    const asked: object[] = [];
    const routes = controllerRoutes({
      ...routesDeps,
      history: makeHistory(),
      requestResync: async (options) => void asked.push(options),
    });
    const resync = routes.find(({ path }) => path === '/controller/resync')!;
    assert.deepEqual(await resync.handle(request), {
      status: 200,
      body: 'Resync request was successfully dispatched.',
    });
    await resync.handle({ ...request, query: { 'accept-empty': ['true'] } });
    assert.deepEqual(asked, [{ acceptEmpty: false }, { acceptEmpty: true }]);
    await assert.rejects(
      async () => await resync.handle({ ...request, query: { 'accept-empty': ['1'] } }),
      { name: 'BadRequestError', message: /accept-empty="1" must be true or false/ },
    );
    assert.ok(resync.mutating);
  });
});

describe('/controller/verification', () => {
  it('shows what was found [R7.2] [R7.3]', async () => {
    const { verification } = make();
    const { status, body } = await verification.handle({ query: {}, params: {}, body: undefined });
    assert.equal(status, 200);
    assert.deepEqual(body, {
      Enabled: true,
      Resyncs: 0,
      InternalDataDifferences: 0,
      ConfigurationDifferences: 0,
      Differences: [],
    });
  });
});
