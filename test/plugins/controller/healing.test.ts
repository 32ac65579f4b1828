import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CodedError, defineError } from '#infra/errors/errors.ts';
import type { KeyFailure } from '#kvscheduler/api/transaction.ts';
import { AbortEventError } from '#plugins/controller/api/errors.ts';
import { defineEvent, EventMethod, TransactionType } from '#plugins/controller/api/event.ts';
import { DbResync, ExternalConfigChange } from '#plugins/controller/api/events.ts';
import { emptyResync, handler, makeController, put, settle } from './controller-harness.ts';

const Note = defineEvent<object>({
  id: 'note',
  blocking: false,
  name: 'Note',
  method: EventMethod.Update,
});

const DisconnectedError = defineError({
  name: 'DisconnectedError',
  code: 'CV_TEST_DISCONNECTED',
  unavailable: 'southbound',
  remedy: '',
});

const DeletedError = defineError({
  name: 'DeletedError',
  code: 'CV_TEST_DELETED',
  unavailable: 'environment',
  remedy: '',
});

const RefusedError = defineError({
  name: 'RefusedError',
  code: 'CV_TEST_REFUSED',
  isRetriable: false,
  remedy: '',
});

const disconnected = new DisconnectedError('VPP is not connected');

/** Kinds and first lines of all events so far. */
const seen = ({ controller }: ReturnType<typeof makeController>) =>
  controller.history.records.map((record) => record.description.split('\n')[0]);

function throwing(errors: (Error | undefined)[]) {
  const next = () => {
    const error = errors.shift();
    if (error) throw error;
  };
  return handler('a', [], { resync: next, update: next });
}

describe('periodic healing', () => {
  it('neither hides the error of the last full resync nor repeats that one more often', async () => {
    const failure = () => new AbortEventError('no daemon', { cause: new DeletedError('no') });
    const bench = makeController([throwing([undefined, ...Array.from({ length: 99 }, failure)])], {
      config: { enablePeriodicHealing: true, periodicHealingInterval: '7s' },
    });
    bench.controller.push(emptyResync);
    await settle();
    bench.controller.push(emptyResync);
    await settle();
    for (let round = 0; round < 200; round++) {
      await bench.clock.advance(5_000);
      await settle();
      assert.match(bench.controller.problems(1).join(), /no daemon/);
    }
    const full = seen(bench).filter((text) => text!.includes('After error'));
    assert.ok(full.length > 8 && full.length < 16, `${full.length} in 1,000 s`);
    assert.ok(seen(bench).filter((text) => text!.includes('Periodic')).length > 100);
  });
});

describe('a periodic healing resync that fails', () => {
  it('does not bring the repeated healing of the same failure forward [R5.24]', async () => {
    const bench = makeController([], {
      config: { enablePeriodicHealing: true, periodicHealingInterval: '30s' },
    });
    const error = new Error('VPP said -1');
    const failures: KeyFailure[] = [{ key: 'x', operation: 'CREATE', error }];
    bench.sink.reply = () => ({ seqNum: 0, failures });
    bench.controller.push(emptyResync);
    await settle();
    for (let round = 0; round < 200; round++) {
      await bench.clock.advance(5_000);
      await settle();
    }
    const count = (what: string) => seen(bench).filter((text) => text!.includes(what)).length;
    assert.ok(count('Periodic') > 30);
    assert.ok(count('After error') < 16, `${count('After error')} in 1,000 s`);
  });

  it('is healed soon if nothing else failed before [R5.25]', async () => {
    const bench = makeController([], {
      config: { enablePeriodicHealing: true, periodicHealingInterval: '30s' },
    });
    bench.controller.push(emptyResync);
    await settle();
    const failures: KeyFailure[] = [{ key: 'x', operation: 'CREATE', error: new Error('no') }];
    bench.sink.reply = ({ mode }) => ({
      seqNum: 0,
      failures: mode === 'downstream-resync' ? failures : [],
    });
    await bench.clock.advance(30_000);
    await settle();
    await bench.clock.advance(5_000);
    await settle();
    assert.match(seen(bench).at(-1)!, /After error/);
  });
});

describe('a problem that appears in an update', () => {
  async function healings(problem: CodedError) {
    const problems: CodedError[] = [];
    const solve = async () => void problems.splice(0);
    const one = handler('a', [], { resync: solve });
    const bench = makeController([{ ...one, problems: () => problems }]);
    bench.controller.push(emptyResync);
    await settle();
    problems.push(problem);
    bench.controller.push(Note.event({}));
    bench.controller.push(Note.event({}));
    await settle();
    await bench.clock.advance(300_000);
    return seen(bench).slice(3);
  }

  it('is healed without another reason for a resync', async () => {
    const problem = new DeletedError('no daemon');
    assert.deepEqual(await healings(problem), ['Healing Resync (After error: no daemon)']);
  });

  it('is not healed if no retry can solve it', async () => {
    assert.deepEqual(await healings(new RefusedError('no such NIC')), []);
  });
});

describe('a transaction of a revertible event that ends without a result', () => {
  it('is healed: it is not known what was undone', async () => {
    const Undoable = defineEvent<object>({
      id: 'undoable',
      blocking: false,
      name: 'Undoable',
      method: EventMethod.Update,
      transactionType: TransactionType.RevertOnFailure,
    });
    const change = handler('a', [], { update: async ({ txn }) => void put(txn, 'x', {}) });
    const bench = makeController([change]);
    bench.controller.push(emptyResync);
    await settle();
    bench.sink.reply = () => {
      throw new Error('defect');
    };
    bench.controller.push(Undoable.event({}));
    await settle();
    bench.sink.reply = () => ({ seqNum: 2, failures: [] });
    await bench.clock.advance(60_000);
    assert.match(seen(bench).at(-1)!, /After error/);
    assert.equal(seen(bench).length, 3);
  });
});

describe('healing while VPP is disconnected', () => {
  it('is left to the return of VPP when a handler could not ask it', async () => {
    const bench = makeController([throwing([undefined, disconnected, disconnected])]);
    bench.controller.push(emptyResync);
    bench.controller.push(Note.event({}));
    await settle();
    await bench.clock.advance(60_000);
    assert.deepEqual(seen(bench).slice(1), ['Note']);
    bench.controller.scheduleHealing('VPP reconnected', 0);
    await bench.clock.advance(60_000);
    assert.equal(seen(bench).length, 3, 'VPP was lost again during the healing: no end, no loop');
    assert.equal(bench.states.at(-1)![0], 'ok');
  });

  it('is left to it when the transaction could not be run', async () => {
    const bench = makeController([]);
    bench.sink.reply = () => {
      throw disconnected;
    };
    bench.controller.push(emptyResync);
    await settle();
    bench.controller.scheduleHealing('VPP reconnected', 0);
    await bench.clock.advance(60_000);
    assert.equal(seen(bench).length, 2);
    assert.deepEqual(bench.states, [['init', undefined]]);
  });

  it('is left to it whatever failed while VPP was lost or away', async () => {
    let life: number | undefined = 1;
    const bench = makeController([throwing([undefined, undefined, new Error('no such device')])], {
      southboundGeneration: () => life,
    });
    bench.controller.push(emptyResync);
    await settle();
    bench.sink.reply = () => {
      life = undefined;
      return {
        seqNum: 0,
        failures: [{ key: 'x', operation: 'CREATE', error: new Error('no such device') }],
      };
    };
    bench.controller.push(emptyResync);
    bench.controller.push(Note.event({}));
    await settle();
    await bench.clock.advance(60_000);
    assert.equal(seen(bench).length, 3, 'lost in the second resync, away in the update');
    assert.ok(bench.states.every(([state]) => state !== 'error'));
  });

  it('is no state OK before VPP has taken a resync', async () => {
    const bench = makeController([throwing([disconnected])]);
    bench.controller.push(emptyResync);
    await settle();
    assert.deepEqual(bench.states, [['init', undefined]]);
    bench.controller.scheduleHealing('VPP reconnected', 0);
    await bench.clock.advance(0);
    assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
  });
});

describe('a deleted environment of a value', () => {
  it('is neither healed nor waited for', async () => {
    const bench = makeController([]);
    const error = new DeletedError('the namespace is deleted');
    const failures: KeyFailure[] = [{ key: 'x', operation: 'CREATE', error }];
    bench.sink.reply = () => ({ seqNum: 0, failures });
    bench.controller.push(emptyResync);
    bench.controller.scheduleHealing('anything', 0);
    await bench.clock.advance(60_000);
    assert.equal(seen(bench).length, 2);
    assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
    failures.push({ key: 'y', operation: 'CREATE', error: new Error('no') });
    bench.controller.scheduleHealing('anything', 0);
    await bench.clock.advance(60_000);
    assert.ok(seen(bench).length > 3, 'another failure beside it counts');
  });
});

describe('healing that is scheduled', () => {
  it('comes sooner when VPP is back sooner, and once', async () => {
    const bench = makeController([throwing([undefined, new Error('no')])]);
    bench.controller.push(emptyResync);
    bench.controller.push(Note.event({}));
    await settle();
    bench.controller.scheduleHealing('VPP reconnected', 0);
    await bench.clock.advance(0);
    const healed = 'Healing Resync (After error: VPP reconnected)';
    assert.deepEqual(seen(bench).slice(2), [healed]);
    await bench.clock.advance(60_000);
    assert.deepEqual(seen(bench).slice(2), [healed]);
  });

  it('is tried again when the queue was full [R5.25]', async () => {
    let release: () => void = () => undefined;
    const busy = new Promise<void>((resolve) => {
      release = resolve;
    });
    const answers = [() => Promise.reject(new Error('no')), () => busy];
    const bench = makeController([
      handler('a', [], { update: async () => void (await answers.shift()?.()) }),
    ]);
    bench.controller.push(emptyResync);
    bench.controller.push(Note.event({}));
    bench.controller.push(Note.event({}));
    await settle();
    for (let n = 0; n < 1000; n++) bench.controller.push(Note.event({}));
    await bench.clock.advance(5_000);
    release();
    await settle();
    await bench.clock.advance(5_000);
    assert.match(seen(bench).at(-1)!, /Healing Resync \(After error: no\)/);
    assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
    assert.ok(bench.states.every(([state]) => state !== 'error'));
  });

  it('does not pile up when it is periodic and the loop is busy [R5.26]', async () => {
    let release: () => void = () => undefined;
    const busy = new Promise<void>((resolve) => {
      release = resolve;
    });
    const bench = makeController([handler('a', [], { update: () => busy })], {
      config: { enablePeriodicHealing: true, periodicHealingInterval: '1s' },
    });
    bench.controller.push(emptyResync);
    bench.controller.push(Note.event({}));
    await settle();
    await bench.clock.advance(20_000);
    assert.equal(bench.controller.queueLength, 1);
    release();
    await settle();
    await bench.clock.advance(1_000);
    assert.equal(seen(bench).filter((text) => text!.includes('Periodic')).length, 2);
  });
});

describe('failures of a transaction', () => {
  it('that only an external source has caused end no agent [R5.28]', async () => {
    const bench = makeController([handler('a', [], { resync: ({ txn }) => put(txn, 'own', {}) })]);
    const error = new Error('VPP said -1');
    const failed = (key: string, base: string): KeyFailure => {
      return { key, base, operation: 'CREATE', error };
    };
    bench.sink.reply = () => ({ seqNum: 0, failures: [failed('theirs/address', 'theirs')] });
    const externalConfig = { theirs: {} };
    bench.controller.push(DbResync.event({ local: false, kubeState: {}, externalConfig }));
    await settle();
    await bench.clock.advance(60_000);
    assert.deepEqual(bench.states.at(-1), ['ok', undefined]);
    assert.equal(seen(bench).length, 1);
    bench.sink.reply = () => ({ seqNum: 0, failures: [failed('own/address', 'own')] });
    bench.controller.push(ExternalConfigChange.event({ source: 'db', values: { theirs: {} } }));
    await settle();
    await bench.clock.advance(5_000);
    assert.equal(seen(bench).length, 3);
  });

  it('that only an external source has caused are no reason for a healing of another kind [R5.28]', async () => {
    const bench = makeController([handler('a', [], { resync: ({ txn }) => put(txn, 'own', {}) })], {
      config: { enablePeriodicHealing: true, periodicHealingInterval: '30s' },
    });
    const error = new Error('VPP said -1');
    bench.sink.reply = () => ({
      seqNum: 0,
      failures: [{ key: 'theirs', operation: 'CREATE', error }],
    });
    const externalConfig = { theirs: {} };
    bench.controller.push(DbResync.event({ local: false, kubeState: {}, externalConfig }));
    await settle();
    await bench.clock.advance(30_000);
    await settle();
    await bench.clock.advance(10_000);
    assert.deepEqual(seen(bench).slice(1), ['Healing Resync (Periodic)']);
  });

  it('of a value that a source is merged over are healed once, also if periodic healing meets them [R5.28]', async () => {
    const bench = makeController([handler('a', [], { resync: ({ txn }) => put(txn, 'own', {}) })], {
      config: { enablePeriodicHealing: true, periodicHealingInterval: '30s' },
    });
    const failures: KeyFailure[] = [{ key: 'own', operation: 'CREATE', error: new Error('no') }];
    bench.sink.reply = () => ({ seqNum: 0, failures });
    const externalConfig = { own: {} };
    bench.controller.push(DbResync.event({ local: false, kubeState: {}, externalConfig }));
    for (let round = 0; round < 60; round++) {
      await settle();
      await bench.clock.advance(5_000);
    }
    const count = (what: string) => seen(bench).filter((text) => text!.includes(what)).length;
    assert.ok(count('Periodic') > 5);
    assert.equal(count('After error'), 1);
  });

  it('to remove what only an external source has wanted end no agent [R5.28]', async () => {
    const bench = makeController([handler('a', [], { resync: ({ txn }) => put(txn, 'own', {}) })]);
    const error = new Error('VPP said -1');
    const externalConfig = { theirs: {} };
    bench.controller.push(DbResync.event({ local: false, kubeState: {}, externalConfig }));
    await settle();
    bench.sink.reply = () => ({
      seqNum: 0,
      failures: [{ key: 'theirs', operation: 'DELETE', error }],
    });
    bench.controller.push(ExternalConfigChange.event({ source: 'db', values: { theirs: null } }));
    await settle();
    await bench.clock.advance(60_000);
    assert.deepEqual(seen(bench).slice(2), [], 'only the source gets the error');
    const failing = bench.sink.reply;
    bench.sink.reply = () => ({ seqNum: 0, failures: [] });
    bench.controller.push(ExternalConfigChange.event({ source: 'db', values: { other: {} } }));
    await settle();
    bench.sink.reply = failing;
    // as with a restart of the database: the value is in no snapshot, and stays in VPP
    bench.controller.push(DbResync.event({ local: false, kubeState: {}, externalConfig: {} }));
    await settle();
    await bench.clock.advance(60_000);
    assert.notEqual(bench.states.at(-1)![0], 'error');
  });

  it('are reported by the first of them and their number', async () => {
    const bench = makeController([handler('a', [])]);
    const failures = Array.from({ length: 5_000 }, (_, n): KeyFailure => {
      return { key: `route/${n}`, operation: 'CREATE', error: new Error('VPP said -1') };
    });
    bench.sink.reply = () => ({ seqNum: 0, failures });
    bench.controller.push(emptyResync);
    await settle();
    const { transactionError } = bench.controller.history.records[0]!;
    assert.match(transactionError!, /^KeyErrors: \[route\/0 \(CREATE\): VPP said -1, /);
    assert.match(transactionError!, /, and 4990 more\]$/);
  });
});

describe('what handlers may not have applied', () => {
  it('is said from an event that has failed until a resync of all handlers has succeeded', async () => {
    const bench = makeController([
      throwing([undefined, new Error('first'), new Error('resync'), undefined]),
    ]);
    const unapplied = () => bench.controller.unapplied?.message ?? '';
    bench.controller.push(emptyResync);
    await settle();
    assert.equal(unapplied(), '');
    bench.controller.push(Note.event({}));
    await settle();
    assert.match(unapplied(), /first/);
    bench.controller.push(emptyResync);
    await settle();
    assert.match(unapplied(), /resync/);
    bench.controller.push(emptyResync);
    await settle();
    assert.equal(unapplied(), '');
  });
});
