/** When events may run: not before VPP is configured, at the start and after each reconnect. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineError, traitsOf } from '#infra/errors/errors.ts';
import { AbortEventError, NotConfiguredError } from '#plugins/controller/api/errors.ts';
import { defineEvent, EventMethod } from '#plugins/controller/api/event.ts';
import {
  emptyResync,
  eventKindsOf,
  handler,
  makeController,
  settle,
} from './controller-harness.ts';

const Ask = defineEvent<object, string>({
  id: 'ask',
  blocking: true,
  name: 'Ask',
  method: EventMethod.Update,
});

const UnreachableError = defineError({
  name: 'UnreachableError',
  code: 'CV_TEST_UNREACHABLE',
  remedy: 'Start it.',
});

const DisconnectedError = defineError({
  name: 'DisconnectedError',
  code: 'CV_TEST_DISCONNECTED',
  unavailable: 'southbound',
  remedy: '',
});

/** A handler whose resyncs fail with these errors, one after the other. */
function failing(errors: (Error | undefined)[]) {
  return handler('a', [], {
    resync: () => {
      const error = errors.shift();
      if (error) throw error;
    },
  });
}

const aborted = () =>
  new AbortEventError('cannot ask the daemon', { cause: new UnreachableError('no answer') });

describe('before the first committed resync', () => {
  it('an update waits for the startup resync [R4.8]', async () => {
    const bench = makeController([failing([])]);
    const asked = bench.controller.pushAndWait(Ask.event({}));
    await settle();
    assert.deepEqual(eventKindsOf(bench), []);
    bench.controller.push(emptyResync);
    await asked;
    assert.deepEqual(eventKindsOf(bench), ['database-resync', 'ask']);
  });

  it('an aborted startup resync lets no update run; producers get a retriable error [R4.8]', async () => {
    const bench = makeController([failing([aborted(), aborted()])]);
    const before = bench.controller.pushAndWait(Ask.event({}));
    bench.controller.push(emptyResync);
    const refused = (thrown: unknown) =>
      thrown instanceof NotConfiguredError &&
      traitsOf(thrown).isRetriable === true &&
      thrown.message.includes('cannot ask the daemon');
    await assert.rejects(before, refused);
    await assert.rejects(bench.controller.pushAndWait(Ask.event({})), refused);
    await bench.clock.advance(5_000);
    await assert.rejects(bench.controller.pushAndWait(Ask.event({})), refused);
    assert.deepEqual(eventKindsOf(bench), ['database-resync', 'healing-resync']);
    assert.deepEqual(bench.states, [['init', undefined]], 'neither ready nor to be restarted');
    assert.match(bench.controller.problems(1).join(), /cannot ask the daemon/);
    await bench.clock.advance(10_000);
    await bench.controller.pushAndWait(Ask.event({}));
    assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
    assert.deepEqual(bench.controller.problems(1), []);
  });

  it('a startup resync during which VPP disconnects rejects producers, too [R4.8]', async () => {
    let generation: number | undefined = 1;
    const bench = makeController([failing([])], { southboundGeneration: () => generation });
    const before = assert.rejects(bench.controller.pushAndWait(Ask.event({})), NotConfiguredError);
    bench.sink.reply = () => {
      generation = undefined;
      const error = new DisconnectedError('VPP is not connected');
      return { seqNum: 0, failures: [{ key: 'x', operation: 'CREATE', error }] };
    };
    bench.controller.push(emptyResync);
    await settle();
    assert.equal(bench.controller.queueLength, 0, 'nothing waits for VPP');
    await before;
    await assert.rejects(bench.controller.pushAndWait(Ask.event({})), NotConfiguredError);
    bench.sink.reply = () => ({ seqNum: 1, failures: [] });
    generation = 2;
    bench.controller.southboundReconnected();
    await bench.clock.advance(0);
    await bench.controller.pushAndWait(Ask.event({}));
  });

  it('a handler that fails by a defect is fatal when the healing fails, too [R5.24]', async () => {
    const wrapped = new AbortEventError('no', { cause: new TypeError('x is not a function') });
    for (const error of [new TypeError('x is not a function'), wrapped]) {
      const bench = makeController([failing([error, error])]);
      bench.controller.push(emptyResync);
      await settle();
      await bench.clock.advance(5_000);
      assert.equal(bench.states.at(-1)![0], 'error');
    }
  });

  it('an error of the operating system is not a defect [R5.24]', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' });
    const bench = makeController([failing([refused, refused])]);
    bench.controller.push(emptyResync);
    await settle();
    await bench.clock.advance(60_000);
    assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
  });
});

describe('after a reconnect of VPP', () => {
  it('updates wait for the resync that configures it [R4.8]', async () => {
    let generation: number | undefined = 1;
    const bench = makeController([failing([])], { southboundGeneration: () => generation });
    bench.controller.push(emptyResync);
    await settle();
    generation = undefined;
    await bench.controller.pushAndWait(Ask.event({}));
    assert.deepEqual(
      eventKindsOf(bench),
      ['database-resync', 'ask'],
      'fails at once: VPP is not connected',
    );
    generation = 2;
    assert.match(bench.controller.problems(2).join(), /VPP is connected again/);
    const asked = bench.controller.pushAndWait(Ask.event({}));
    await settle();
    assert.equal(eventKindsOf(bench).length, 2);
    bench.controller.southboundReconnected();
    await bench.clock.advance(0);
    await asked;
    assert.deepEqual(eventKindsOf(bench).slice(2), ['healing-resync', 'ask']);
    assert.deepEqual(bench.controller.problems(2), []);
  });
});

describe('a VPP that connects during a resync', () => {
  for (const [before, during] of [
    [1, 2],
    [undefined, 1],
  ] as const)
    it(`is not configured by it: generation ${before}, then ${during} [R4.8]`, async () => {
      let generation: number | undefined = before;
      const bench = makeController([failing([])], { southboundGeneration: () => generation });
      bench.sink.reply = () => {
        generation = during;
        return { seqNum: 0, failures: [] };
      };
      bench.controller.push(emptyResync);
      const asked = bench.controller.pushAndWait(Ask.event({}));
      await settle();
      assert.deepEqual(eventKindsOf(bench), ['database-resync']);
      assert.equal(bench.controller.isSynced, false);
      bench.controller.southboundReconnected();
      await bench.clock.advance(0);
      await asked;
      assert.deepEqual(eventKindsOf(bench).slice(1), ['healing-resync', 'ask']);
    });
});

describe('problems of a handler', () => {
  it('that a retry may solve are retried by healing resyncs, others are not', async () => {
    for (const [isRetriable, resyncs] of [
      [undefined, 4],
      [false, 1],
    ] as const) {
      const ProblemError = defineError({
        name: 'ProblemError',
        code: 'CV_TEST_PROBLEM',
        ...(isRetriable !== undefined && { isRetriable }),
        remedy: 'Correct it.',
      });
      const problems = [new ProblemError('wrong', { where: 'key' })];
      const bench = makeController([{ ...failing([]), problems: () => problems }]);
      bench.controller.push(emptyResync);
      await settle();
      assert.deepEqual(bench.controller.problems(1), ['key: wrong [CV_TEST_PROBLEM]: Correct it.']);
      await bench.clock.advance(10_000 + 20_000 + 40_000);
      assert.equal(eventKindsOf(bench).length, resyncs);
      problems.length = 0;
      await bench.clock.advance(3_600_000);
      assert.equal(eventKindsOf(bench).length, isRetriable === false ? 1 : resyncs + 1);
      assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
    }
  });
});

describe('the configuration is in sync', () => {
  it('from a committed resync on, until VPP is disconnected or another one', async () => {
    let generation: number | undefined = 1;
    const errors = [aborted(), undefined, aborted()];
    const bench = makeController([failing(errors)], { southboundGeneration: () => generation });
    const { controller } = bench;
    assert.equal(controller.isSynced, false);
    controller.push(emptyResync);
    await settle();
    assert.equal(controller.isSynced, false, 'aborted');
    controller.push(emptyResync);
    await settle();
    assert.equal(controller.isSynced, true);
    generation = undefined;
    assert.equal(controller.isSynced, false, 'disconnected');
    generation = 2;
    assert.equal(controller.isSynced, false, 'not configured yet');
  });
});
