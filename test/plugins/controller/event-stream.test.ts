import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ManualClock } from '#infra/clock/manual.ts';
import { rfc3339 } from '#infra/clock/rfc3339.ts';
import { BadRequestError, NotFoundError } from '#infra/http/route.ts';
import { eventStreamRoute } from '#plugins/controller/event-stream.ts';
import { makeHistory, record } from './history-records.ts';

function make(t: TestContext, count: number) {
  const clock = new ManualClock();
  const history = makeHistory(undefined, clock);
  for (let n = 0; n < count; n++) history.add(record(n));
  const route = eventStreamRoute({ clock, history });
  const open = (after?: string, last?: string) => {
    const query = {
      ...(after !== undefined && { after: [after] }),
      ...(last !== undefined && { last: [last] }),
    };
    const response = route.handle({ query, params: {}, body: undefined });
    assert.ok(!(response instanceof Promise));
    return response;
  };
  const follow = (after?: string, last?: string) => {
    const { status, body } = open(after, last);
    assert.equal(status, 200);
    assert.ok(body instanceof Readable);
    t.after(() => body.destroy());
    let text = '';
    body.on('data', (piece: string) => {
      text += piece;
    });
    return {
      body,
      async text() {
        for (let turn = 0; turn < 20; turn++) await setImmediate();
        return text;
      },
      ids: async () => {
        for (let turn = 0; turn < 20; turn++) await setImmediate();
        return [...text.matchAll(/^id: (.*)\nevent: processed$/gm)].map(([, id]) => id);
      },
    };
  };
  return { clock, history, route, open, follow, id: (n: number) => `${history.started}-${n}` };
}

describe('/controller/events', () => {
  it('sends events when they are recorded, one message each', async (t) => {
    const { history, follow, id } = make(t, 3);
    const client = follow();
    assert.deepEqual(await client.ids(), [], 'those before the request are not asked for');
    history.add(record(3));
    history.add(record(4));
    assert.deepEqual(await client.ids(), [id(3), id(4)]);
    const [, message = ''] = (await client.text()).split(/^event: processed$/m);
    const [line = ''] = message.trim().split('\n');
    const document = JSON.parse(line.replace(/^data: /, '')) as Record<string, unknown>;
    assert.equal(document['SeqNum'], 3);
    assert.equal(document['Name'], 'Healing Resync');
    assert.equal(document['Txn'], null);
  });

  it('continues after an event that the client knows, and with all of an agent that was restarted', async (t) => {
    const { follow, history, id } = make(t, 4);
    assert.deepEqual(await follow(id(1)).ids(), [id(2), id(3)]);
    assert.deepEqual(await follow('1').ids(), [id(2), id(3)]);
    assert.deepEqual(await follow(id(9)).ids(), []);
    const other = `${history.started - 5_000}-900`;
    assert.deepEqual(await follow(other).ids(), [id(0), id(1), id(2), id(3)]);
  });

  it('reads from the history only what the client takes', async (t) => {
    const { open, history } = make(t, 0);
    const { body } = open();
    assert.ok(body instanceof Readable);
    t.after(() => body.destroy());
    for (let n = 0; n < 1_000; n++) history.add(record(n));
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    assert.ok(body.readableLength < 256 * 1024, String(body.readableLength));
  });

  it('sends a comment when nothing happens, and ends before the server closes it', async (t) => {
    const { clock, follow, id } = make(t, 1);
    const client = follow();
    const connected = `id: ${id(0)}\nevent: connected\ndata: {"Time":"${rfc3339(clock.now())}"}\n\n`;
    assert.equal(await client.text(), connected);
    await clock.advance(10_000);
    assert.equal(await client.text(), `${connected}:\n\n`);
    await clock.advance(600_000);
    await client.text();
    assert.equal(client.body.readableEnded, true);
  });

  it('serves a limited number of clients, and the next one when one disconnects', async (t) => {
    const { open, follow } = make(t, 1);
    const clients = Array.from({ length: 16 }, () => follow());
    assert.throws(() => open(), { status: 503 });
    clients[0]?.body.destroy();
    await setImmediate();
    follow();
  });

  it('leaves places for others when one address follows the events many times', async (t) => {
    const { route } = make(t, 1);
    const follow = async (address: string) =>
      route.handle({ query: {}, params: {}, body: undefined, address });
    const streams = [];
    for (let n = 0; n < 4; n++) streams.push(await follow('10.1.1.1'));
    await assert.rejects(follow('10.1.1.1'), { status: 503 });
    streams.push(await follow('10.1.1.2'));
    (streams[0]!.body as Readable).destroy();
    await setImmediate();
    streams.push(await follow('10.1.1.1'));
    for (const { body } of streams) (body as Readable).destroy();
  });

  it('rejects an ID of another form, and answers 404 when nothing is recorded', async (t) => {
    const { open } = make(t, 1);
    assert.throws(() => open('a7'), BadRequestError);
    const isOff = { ageMs: 1, permanentMs: 1, bytes: 1, isOff: true };
    const clock = new ManualClock();
    const route = eventStreamRoute({ clock, history: makeHistory(isOff, clock) });
    await assert.rejects(
      async () => route.handle({ query: {}, params: {}, body: undefined }),
      NotFoundError,
    );
  });

  it('begins with the newest events that the client asks for', async (t) => {
    const { follow, history, id } = make(t, 4);
    assert.deepEqual(await follow(undefined, '2').ids(), [id(2), id(3)]);
    assert.deepEqual(await follow(undefined, '9').ids(), [id(0), id(1), id(2), id(3)]);
    assert.deepEqual(await follow(id(2), '4').ids(), [id(3)], 'a client that knows where it was');
    const client = follow(undefined, '0');
    history.add(record(4));
    assert.deepEqual(await client.ids(), [id(4)]);
  });

  it('makes the text of an event once for all clients, also of old ones', async (t) => {
    const { history, follow } = make(t, 0);
    let reads = 0;
    const counted = (seqNum: number) => ({
      ...record(seqNum),
      get trace() {
        reads++;
        return record(seqNum).trace;
      },
    });
    for (let n = 0; n < 5; n++) history.add(counted(n));
    const added = reads;
    const clients = Array.from({ length: 10 }, () => follow(undefined, '5'));
    for (const client of clients) assert.equal((await client.ids()).length, 5);
    // once for the text of each
    assert.equal(reads - added, 5);
    reads = 0;
    history.add(counted(5));
    const ofHistory = reads;
    for (const client of clients) assert.equal((await client.ids()).length, 6);
    assert.equal(reads - ofHistory, 1);
  });

  it('sends one message of each client in a turn of the event loop, and none while an event is recorded', async (t) => {
    const { history, open } = make(t, 500);
    let pieces = 0;
    const bodies = Array.from({ length: 10 }, () => open('0').body as Readable);
    for (const body of bodies) {
      t.after(() => body.destroy());
      body.on('data', (piece: string) => {
        pieces += piece.split('event: processed').length - 1;
      });
    }
    for (let turn = 0; pieces < 10 * 499; turn++) {
      assert.ok(turn < 2_000, `${pieces} after ${turn} turns`);
      const before = pieces;
      await setImmediate();
      assert.ok(pieces - before <= 20, `${pieces - before} messages in one turn`);
    }
    history.add(record(500));
    assert.equal(pieces, 10 * 499, 'the event does not wait for its clients');
    await setImmediate();
    await setImmediate();
    assert.equal(pieces, 10 * 500);
  });
});
