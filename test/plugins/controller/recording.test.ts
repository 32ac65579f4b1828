import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { StoreUnavailableError } from '#datastore/api.ts';
import { ManualClock, seededRandom } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { FatalError } from '#plugins/controller/api/errors.ts';
import { defineEvent, EventMethod } from '#plugins/controller/api/event.ts';
import type { EventHandler } from '#plugins/controller/api/event-handler.ts';
import { Controller, type ControllerDeps } from '#plugins/controller/controller.ts';
import { DesiredState } from '#plugins/controller/desired-state.ts';
import { Recorder } from '#plugins/controller/recording/recorder.ts';
import { jsonPieces } from '#plugins/controller/recording/recording-file.ts';
import { readRecording, recordingFiles } from '#plugins/controller/recording/recording-reader.ts';
import { replayRecording } from '#plugins/controller/recording/replay.ts';
import {
  controllerConfig,
  emptyResync,
  FakeSink,
  put as putValue,
  settle,
} from './controller-harness.ts';

const Ask = defineEvent<{ readonly what: string }>({
  id: 'recording-ask',
  blocking: false,
  name: ({ what }) => `Ask ${what}`,
  method: EventMethod.Update,
});

const Echo = defineEvent<{ readonly of: string }>({
  id: 'recording-echo',
  blocking: false,
  name: 'Echo',
  method: EventMethod.Update,
});

/** Whether the handler waits for the clock, and not for files. */
interface Waiting {
  isWaiting: boolean;
}

/** A handler that does whatever the event says, through all that a context offers. */
function asker(
  port: () => Promise<string> | string,
  suffix = '',
  waiting: Waiting = { isWaiting: false },
): EventHandler {
  return {
    name: 'asker',
    handlesEvent: () => true,
    resync: () => undefined,
    update: async (ctx) => {
      if (!Ask.is(ctx.event)) return;
      const { what } = ctx.event.payload;
      const put = (value: object) => putValue(ctx.txn, `key/${what}`, value);
      if (what === 'port') put({ text: (await ctx.callPort('port', port)) + suffix });
      else if (what === 'away')
        await ctx
          .callPort('port', port)
          .catch((error) => put({ away: error instanceof StoreUnavailableError }));
      else if (what === 'time') put({ now: ctx.clock.now(), since: ctx.clock.monotonic() });
      else if (what === 'chance')
        put({
          number: ctx.random.next(),
          bytes: [...ctx.random.bytes(4)],
          more: ctx.random.next(),
        });
      else if (what === 'sleep') {
        waiting.isWaiting = true;
        await ctx.clock.sleep(4_000);
        waiting.isWaiting = false;
        put({ slept: true });
      } else if (what === 'echo') ctx.followUp(Echo.event({ of: what + suffix }));
      else if (what === 'past') put({ text: await port() });
      else if (what === 'hang') {
        waiting.isWaiting = true;
        await ctx.callPort('port', () => new Promise(() => undefined));
      } else if (what === 'fatal') throw new FatalError('the end');
    },
  };
}

describe('a recording', () => {
  let folder: string;
  let clock: ManualClock;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'recording-'));
    clock = new ManualClock();
  });
  afterEach(() => rm(folder, { recursive: true }));

  function deps(handlers: readonly EventHandler[], sink = new FakeSink()): ControllerDeps {
    return {
      config: controllerConfig(),
      handlers,
      desired: new DesiredState(),
      sink,
      externalSources: [
        { label: 'outside', snapshot: async () => ({ 'key/x': { from: 'outside' } }) },
      ],
      merge: (_key, base, over) => ({ ...base, ...over }),
      southboundGeneration: () => 1,
      clock,
      random: seededRandom(1),
      log: silentLogger,
      handlerLog: () => silentLogger,
      reportState: () => undefined,
      print: () => undefined,
    };
  }

  /** However long the files take: with time that passes meanwhile the handler would exceed its limit. */
  async function untilIdle(controller: Controller, waiting: Waiting): Promise<void> {
    while (!controller.isIdle) {
      await settle();
      if (waiting.isWaiting) await clock.advance(1000);
    }
  }

  async function record(
    events: readonly string[],
    port: () => Promise<string> | string,
    options: { mostBytes?: number; sink?: FakeSink } = {},
  ): Promise<void> {
    const { mostBytes, sink } = options;
    const recorder = new Recorder({
      folder,
      version: 'v1',
      label: 'node1',
      settings: {},
      clock,
      log: silentLogger,
      ...(mostBytes !== undefined && { maxBytes: mostBytes }),
    });
    const waiting: Waiting = { isWaiting: false };
    const controller = new Controller(recorder.wrap(deps([asker(port, '', waiting)], sink)));
    controller.start();
    controller.push(emptyResync);
    for (const what of events) {
      controller.push(Ask.event({ what }));
      await untilIdle(controller, waiting);
    }
    await settle();
    await recorder.close();
  }

  async function replay(handler: EventHandler) {
    const file = (await recordingFiles(folder)).at(-1)!;
    return await replayRecording(await readRecording(file), () => {
      const { merge } = deps([]);
      return { handlers: [handler], merge };
    });
  }

  const nobody = () => assert.fail('a replay must not ask the port');
  const everything = ['port', 'time', 'chance', 'sleep', 'echo', 'time', 'port'];

  it('replays ports, time, randomness, sleep, follow-ups and external sources', async () => {
    let asked = 0;
    const port = () => {
      clock.jump(123.5);
      return `answer ${asked++}`;
    };
    await record(everything, port);
    const { events, transactions, differences, ending } = await replay(asker(nobody));
    assert.deepEqual(differences, []);
    assert.deepEqual([events, ending], [9, undefined]);
    assert.ok(transactions >= 7);
  });

  it('gives an error of a port back as one of its class', async () => {
    await record(['away'], () => {
      throw new StoreUnavailableError('no answer', { where: 'etcd' });
    });
    const [file = ''] = await recordingFiles(folder);
    assert.match(await readFile(file, 'utf8'), /"key\/away":\{"away":true\}/);
    assert.deepEqual((await replay(asker(nobody))).differences, []);
  });

  it('gives failures of the southbound and refusals of the scheduler back', async () => {
    const sink = new FakeSink();
    sink.reply = ({ values }) => {
      if (values.has('key/time')) throw new Error('queue is full');
      const keys = [...values.keys()].filter((key) => key === 'key/port');
      const failures = keys.map((key) => ({
        key,
        operation: 'CREATE' as const,
        error: new Error('refused'),
      }));
      return { seqNum: 1, failures };
    };
    await record(['port', 'time', 'chance'], () => 'x', { sink });
    const [file = ''] = await recordingFiles(folder);
    const text = await readFile(file, 'utf8');
    assert.match(text, /"error":"KeyErrors: \[key\/port \(CREATE\): refused\]"/);
    assert.match(text, /"rejected":\{"name":"Error","message":"queue is full"\}/);
    assert.deepEqual((await replay(asker(nobody))).differences, []);
  });

  it('of a handler that hung replays at once, to the same end', async () => {
    await record(['port', 'hang'], () => 'x');
    const { differences, events } = await replay(asker(nobody));
    assert.deepEqual(differences, []);
    assert.equal(events, 3);
  });

  it('shows what another build wants, and what it asks', async () => {
    await record(['port', 'echo'], () => 'x');
    const [value] = (await replay(asker(nobody, '!'))).differences;
    assert.deepEqual(value, {
      event: { n: 1, name: 'Ask port' },
      what: 'transaction',
      key: 'key/port',
      field: 'text',
      recorded: 'x',
      replayed: 'x!',
    });
    const mute: EventHandler = { ...asker(nobody), update: () => undefined };
    const { differences } = await replay(mute);
    assert.deepEqual(
      differences.map(({ what, key, recorded, replayed }) => [what, key, recorded, replayed]),
      [
        ['transaction', 'key/port', { text: 'x' }, undefined],
        ['question', undefined, 'port', undefined],
      ],
    );
    const silent = asker(nobody);
    const noEcho: EventHandler = {
      ...silent,
      update: (ctx) =>
        Ask.is(ctx.event) && ctx.event.payload.what === 'echo'
          ? undefined
          : silent.update(ctx, undefined),
    };
    const [followUp] = (await replay(noEcho)).differences;
    assert.equal(followUp?.what, 'follow-up');
    assert.equal(followUp?.handler, 'asker');
  });

  it('shows a port that is used past the context', async () => {
    await record(['past'], () => 'x');
    const { differences } = await replay(
      asker(() => {
        throw new Error('out of reach');
      }),
    );
    assert.ok(
      differences.some(
        ({ what, replayed }) => what === 'outcome' && String(replayed).includes('out of reach'),
      ),
    );
  });

  it('ends at its bound and says so; old ones are deleted, oldest first', async () => {
    await writeFile(join(folder, 'run-2001.jsonl'), 'x'.repeat(900));
    await writeFile(join(folder, 'run-2002.jsonl'), 'x'.repeat(900));
    await writeFile(join(folder, 'notes.txt'), 'stay');
    await record(
      Array.from({ length: 50 }, () => 'time'),
      () => 'x',
      { mostBytes: 1500 },
    );
    const names = (await readdir(folder)).sort();
    assert.equal(names.length, 3);
    assert.deepEqual([names[0], names[1]], ['notes.txt', 'run-2002.jsonl']);
    const { differences, ending, events } = await replay(asker(nobody));
    assert.deepEqual(differences, []);
    assert.match(ending ?? '', /limit of 1500 bytes/);
    assert.ok(events < 10);
  });

  it('writes what JSON.stringify writes, in pieces', () => {
    const wide = fc.oneof(
      fc.jsonValue({ maxDepth: 7 }),
      fc.array(fc.jsonValue(), { minLength: 60, maxLength: 90 }),
      fc.dictionary(fc.string(), fc.jsonValue(), {
        minKeys: 60,
        maxKeys: 90,
        noNullPrototype: true,
      }),
    );
    fc.assert(
      fc.property(fc.record({ a: wide, b: fc.option(wide, { nil: undefined }) }), (value) => {
        assert.equal([...jsonPieces(value, 0)].join(''), JSON.stringify(value));
      }),
      { numRuns: 200 },
    );
  });
});
