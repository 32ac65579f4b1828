import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { ManualClock } from '#infra/clock/manual.ts';
import { silentLogger } from '#infra/log/log.ts';
import { KubeStateChange } from '#plugins/controller/api/events.ts';
import { historyText } from '#plugins/controller/event-history-text.ts';
import type { ProcessedEvent } from '#plugins/controller/event-record.ts';
import { ControllerMetrics } from '#plugins/controller/metrics.ts';
import { AddPod, DeletePod } from '#plugins/podmanager/api.ts';
import {
  emptyResync,
  eventKindsOf,
  handler,
  makeController,
  put,
  settle,
  startedController,
} from './controller-harness.ts';
import { makeHistory, record, START } from './history-records.ts';
import { Ask, Note } from './test-events.ts';

describe('event history', () => {
  it('drops by age, except the first period, and by bytes above all [R8.6] [R8.7]', async () => {
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

  it('says what it has dropped, and why [R8.7]', async () => {
    const clock = new ManualClock(START);
    const said: unknown[] = [];
    const log = { ...silentLogger, info: (fields: unknown) => void said.push(fields) };
    const history = makeHistory({ ageMs: 60_000, permanentMs: 0, bytes: 10_000 }, clock, log);
    for (let n = 1; n <= 40; n++) history.add(record(n));
    const { bySize } = history.dropped;
    assert.equal(bySize, 40 - history.records.length);
    assert.equal(
      said.reduce<number>((sum, fields) => sum + (fields as { dropped: number }).dropped, 0),
      bySize,
    );
    assert.deepEqual((said[0] as { limit: number }).limit, 10_000);
    await clock.advance(1e9);
    history.trim();
    assert.deepEqual(history.dropped, { byAge: 40 - bySize, bySize });
    assert.deepEqual([history.records.length, history.bytes], [0, 0]);
    const text = [...historyText(history.records, history)].join('');
    assert.match(text, /^Dropped older records: \d+ by age, \d+ by size of the history\.\n/);
  });

  it('lets the permanent records give way last, but not the newest for them [R8.7]', () => {
    const clock = new ManualClock(START);
    const first = makeHistory({ ageMs: 1e12, permanentMs: 20_000, bytes: 10_000 }, clock);
    for (let n = 0; n < 100; n++) first.add(record(n));
    assert.deepEqual(
      first.records.slice(0, 3).map(({ seqNum }) => seqNum),
      [0, 1, 2],
    );
    assert.equal(first.records.at(-1)!.seqNum, 99);
    const all = makeHistory({ ageMs: 1e12, permanentMs: 1e12, bytes: 10_000 }, clock);
    for (let n = 0; n < 100; n++) all.add(record(n));
    assert.ok(all.bytes <= 10_000);
    assert.equal(all.records.at(-1)!.seqNum, 99);
    assert.ok(all.records[0]!.seqNum > 50);
  });

  it('keeps a record that alone is more than the bound, and the next instead of it [R8.7]', () => {
    const history = makeHistory({ ageMs: 1e12, permanentMs: 0, bytes: 2_000 });
    history.add({ ...record(0), description: 'x'.repeat(5_000) });
    assert.equal(history.records.length, 1);
    history.add(record(1));
    assert.deepEqual(
      history.records.map(({ seqNum }) => seqNum),
      [1],
    );
  });

  it('weighs what it holds, whatever comes and goes [R8.7]', () => {
    const action = fc.oneof(
      fc.record({ ms: fc.integer({ min: 0, max: 100_000 }) }),
      fc.record({ length: fc.integer({ min: 0, max: 3_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const clock = new ManualClock(START);
        const limits = { ageMs: 60_000, permanentMs: 30_000, bytes: 8_000 };
        const history = makeHistory(limits, clock);
        let added = 0;
        for (const one of actions) {
          if ('ms' in one) {
            clock.jump(one.ms);
            history.trim();
            continue;
          }
          const now = clock.now();
          const description = 'x'.repeat(one.length);
          history.add({ ...record(added++), start: now, end: now, description });
          assert.ok(history.bytes <= limits.bytes || history.records.length === 1);
          assert.equal(history.records.at(-1)!.seqNum, added - 1);
        }
        const { byAge, bySize } = history.dropped;
        assert.equal(history.records.length + byAge + bySize, added);
        for (const { seqNum } of history.records)
          assert.equal(history.bySeqNum(seqNum)!.seqNum, seqNum);
        const weighed = makeHistory({ ...limits, bytes: 1e9 }, clock);
        for (const one of history.records) weighed.add(one);
        assert.equal(history.bytes, weighed.bytes);
      }),
    );
  });

  it('is trimmed each minute while it is kept, and is not kept at all on demand [R8.5] [R8.8]', async () => {
    const config = { eventHistoryAgeLimit: 1, permanentlyRecordedInitPeriod: 0 };
    const bench = makeController([], { config });
    await bench.clock.advance(1);
    bench.controller.push(emptyResync);
    await bench.clock.advance(60_000);
    assert.equal(eventKindsOf(bench).length, 1, 'a minute old, and not more');
    await bench.clock.advance(60_000);
    assert.equal(eventKindsOf(bench).length, 0);
    const without = await startedController([], { config: { recordEventHistory: false } });
    const { history } = without.controller;
    assert.equal(history.records.length, 0);
    assert.match([...historyText([], history)].join(''), /^Events are not recorded: recordEventH/);
    assert.equal(without.processed.length, 1);
  });

  it('shows an error of several lines as one entry, and not as several', () => {
    const one = { ...record(1), transactionError: 'KeyErrors: [a\n* b\n#2 c]' };
    const text = [...historyText([one], makeHistory())].join('');
    assert.match(text, /\n {2}TRANSACTION ERROR: KeyErrors: \[a\n {6}\* b\n {6}#2 c\]\n/);
  });

  it('has every field of an event, with any outcome [R8.1] [R8.2]', async () => {
    const bench = await startedController([
      handler('a', [], { update: ({ txn }) => void put(txn, 'x', {}) }),
      handler('b', [], { update: () => ({ change: 'changed' }) }),
    ]);
    const failures = [{ key: 'x', operation: 'CREATE' as const, error: new Error('no') }];
    bench.sink.reply = () => ({ seqNum: 9, failures });
    await assert.rejects(bench.controller.pushAndWait(Ask.event({ n: 1 })));
    const entry = { change: '', error: undefined, startMs: 0, tookMs: 0 };
    assert.deepEqual(bench.controller.history.records.at(-1), {
      seqNum: 1,
      start: START,
      end: START,
      followUpTo: undefined,
      id: 'ask',
      name: 'Ask',
      method: 3,
      description: 'Ask',
      handlers: [
        { handler: 'a', revert: false, ...entry },
        { handler: 'b', revert: false, ...entry, change: 'changed' },
        { handler: 'b', revert: true, ...entry },
        { handler: 'a', revert: true, ...entry },
      ],
      transactionError: 'KeyErrors: [x (CREATE): no]',
      transaction: 9,
      trace: {
        origin: undefined,
        queuedMs: 0,
        totalMs: 0,
        commitStartMs: 0,
        commitMs: 0,
        transaction: undefined,
      },
    });
  });
});

describe('the trace of an event', () => {
  it('says where its time went, and is a histogram by kind [R8.9]', async () => {
    const clock = new ManualClock(START);
    const registry = new Registry();
    const metrics: ControllerMetrics = new ControllerMetrics(registry, () => bench.controller);
    const bench = makeController(
      [
        handler('slow', [], {
          update: async ({ txn }) => {
            await clock.sleep(20);
            put(txn, 'x', {});
          },
        }),
      ],
      {
        clock,
        onProcessed: (one) => {
          metrics.observe(one);
          processed.push(one);
        },
      },
    );
    const processed: ProcessedEvent[] = [];
    bench.controller.push(emptyResync);
    await settle();
    const trace = {
      queuedMs: 0,
      readingMs: 0,
      planningMs: 1,
      writingMs: 0,
      executionMs: 4,
      operations: 17,
    };
    bench.sink.reply = async () => {
      await clock.sleep(5);
      return { seqNum: 1, failures: [], trace };
    };
    const origin = { key: '/vnf-agent/contiv-ksr/k8s/pod/p', revision: '4711', heard: clock.now() };
    const change = { resource: 'pod', key: 'p', previous: undefined, current: {} };
    bench.controller.push(Note.event({ n: 1 }));
    bench.controller.push(KubeStateChange.event(change, origin));
    await clock.advance(25);
    await clock.advance(25);
    const { record: found } = processed.at(-1)!;
    assert.deepEqual(found.trace, {
      origin,
      queuedMs: 25,
      totalMs: 50,
      commitStartMs: 20,
      commitMs: 5,
      transaction: trace,
    });
    assert.equal(found.handlers[0]!.startMs, 0);
    assert.equal(found.handlers[0]!.tookMs, 20);
    const values = new Map<string, number>();
    for (const { name, values: all } of await registry.getMetricsAsJSON())
      for (const { value, labels, metricName = name } of all as unknown as Sample[])
        if (labels.event === 'kube-state-change' && labels.le === undefined)
          values.set(metricName.replace('contiv_controller_', ''), value);
    const sums = [...values].filter(([name]) => name.endsWith('_sum'));
    assert.deepEqual(Object.fromEntries(sums), {
      event_seconds_sum: 0.025,
      event_total_seconds_sum: 0.05,
      event_queue_seconds_sum: 0.025,
      event_handler_seconds_sum: 0.02,
      event_planning_seconds_sum: 0.001,
      event_execution_seconds_sum: 0.004,
      event_operations_sum: 17,
    });
  });

  interface Sample {
    readonly value: number;
    readonly metricName?: string;
    readonly labels: { readonly event?: string; readonly le?: string };
  }

  it('continues in the follow-ups of the event [R8.9]', async () => {
    const bench = await startedController([
      handler('a', [], {
        update: ({ event, followUp }) => {
          if (!KubeStateChange.is(event)) return;
          followUp(Note.event({ n: 1 }));
          followUp(Note.event({ n: 2 }, { key: 'its own' }));
        },
      }),
    ]);
    const heard = START - 1000;
    const change = { resource: 'pod', key: 'p', previous: undefined, current: {} };
    bench.controller.push(KubeStateChange.event(change, { key: 'k', revision: '1', heard }));
    bench.controller.push(KubeStateChange.event(change, { key: 'k2', revision: '2' }));
    bench.controller.push(KubeStateChange.event(change));
    await settle();
    const traces = bench.controller.history.records.slice(1).map(({ trace }) => trace);
    assert.deepEqual(
      traces.map(({ origin }) => origin),
      [
        { key: 'k', revision: '1', heard },
        { key: 'k', revision: '1', heard },
        { key: 'its own' },
        { key: 'k2', revision: '2' },
        { key: 'k2', revision: '2', heard: START },
        { key: 'its own' },
        undefined,
        undefined,
        { key: 'its own' },
      ],
    );
    assert.deepEqual([traces[1]!.totalMs, traces[4]!.totalMs], [1000, 0]);
  });

  it('begins with the container that the CNI was called for [R8.9]', () => {
    const pod = { namespace: 'default', name: 'web' };
    const attachment = { pod, containerId: 'c1', interfaceName: 'eth0' };
    const added = AddPod.event({
      ...attachment,
      networkNamespace: '/n',
      ipamType: '',
      ipamData: '',
    });
    assert.deepEqual(added.origin, { container: 'c1' });
    assert.deepEqual(DeletePod.event(attachment).origin, { container: 'c1' });
  });

  it('goes into the metrics of history and verification as well [R8.7] [R7.2]', async () => {
    const registry = new Registry();
    const bench = await startedController([]);
    new ControllerMetrics(registry, () => bench.controller);
    const text = await registry.metrics();
    assert.match(text, /^contiv_controller_history_dropped_total\{reason="size"\} 0$/m);
    assert.match(
      text,
      /^contiv_controller_verification_differences_total\{what="internal-data"\} 0$/m,
    );
    assert.equal(await registry.metrics(), text, 'asking changes nothing');
  });
});
