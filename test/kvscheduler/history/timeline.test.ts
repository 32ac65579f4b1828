/** Time lines of values, and snapshots of the graph at any time. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Slices } from '#infra/clock/slices.ts';
import { flagStats, keyAt, keyTimeline, snapshot } from '#kvscheduler/history/timeline/queries.ts';
import type { RecordedNode } from '#kvscheduler/history/timeline/recorded-node.ts';
import { checkProperty } from '#test/support/random-cases.ts';
import { runScript, type ScriptResult } from '../support/run-script.ts';
import { faults, scripts } from '../support/scripts.ts';
import { type Bench, setUp } from '../support/setup.ts';
import type { Spec } from '../support/southbound.ts';

const FILE = 'test/kvscheduler/history/timeline.test.ts';
const MINUTE = 60_000;

function asking({ scheduler, clock }: Bench) {
  const { timeline } = scheduler;
  const slices = new Slices(clock);
  return {
    now: () => timeline.now,
    over: async (key: string) => [...(await keyTimeline(timeline, key, slices))],
    at: (key: string, time: number) => keyAt(timeline, key, time, slices),
    graph: async (time = timeline.now) => [...(await snapshot(timeline, time, slices))],
  };
}

const short = ({ Since, Until, Flags }: RecordedNode): string => {
  const time = (text: string) => text.slice(14, 19);
  return `${time(Since)}-${Until.startsWith('0001') ? '' : time(Until)} ${Flags['value-state']}`;
};

const numberOf = ({ Value }: RecordedNode) => (Value?.value as Spec | undefined)?.v;

describe('timeline of a key', () => {
  it('shows each time that the value changed, and nothing in between', async () => {
    const bench = setUp();
    const { over } = asking(bench);
    await bench.clock.advance(MINUTE);
    await bench.commit({ 'a/1': { v: 1 } });
    await bench.clock.advance(MINUTE);
    await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } });
    await bench.clock.advance(MINUTE);
    await bench.commit({ 'a/1': { v: 2 } });
    await bench.clock.advance(MINUTE);
    await bench.commit({ 'a/1': null });
    await bench.clock.advance(MINUTE);
    await bench.commit({ 'a/1': { v: 3 } });
    const nodes = await over('a/1');
    assert.deepEqual(nodes.map(short), [
      '01:00-03:00 CONFIGURED',
      '03:00-04:00 CONFIGURED',
      '05:00- CONFIGURED',
    ]);
    assert.deepEqual(nodes.map(numberOf), [1, 2, 3]);
    assert.deepEqual(await over('a/none'), []);
  });

  it('has the fields of the documents of the Go agent', async () => {
    const bench = setUp();
    const { over } = asking(bench);
    const spec = { v: 1, needs: ['b/1'], any: ['b/'], derives: { 'p/a1': { v: 7 } } };
    await bench.commit({ 'b/1': { v: 1 }, 'b/2': { v: 1 }, 'a/1': spec });
    const [node, ...others] = JSON.parse(JSON.stringify(await over('a/1')));
    assert.equal(others.length, 0);
    assert.deepEqual(node, {
      Since: '2026-01-01T00:00:00.000Z',
      Until: '0001-01-01T00:00:00Z',
      Key: 'a/1',
      Label: '1',
      Value: { ProtoMsgName: 'test.alpha', ProtoMsgData: spec },
      Flags: { 'last-update': 'TXN-0', 'value-state': 'CONFIGURED', descriptor: 'alpha' },
      MetadataFields: { number: ['3'] },
      Targets: [
        { Relation: 'depends-on', Label: 'b/1', ExpectedKey: 'b/1', MatchingKeys: ['b/1'] },
        {
          Relation: 'depends-on',
          Label: 'any of b/',
          ExpectedKey: '',
          MatchingKeys: ['b/1', 'b/2'],
        },
        { Relation: 'derives', Label: 'p/a1', ExpectedKey: 'p/a1', MatchingKeys: ['p/a1'] },
      ],
      TargetUpdateOnly: false,
    });
    const [property] = JSON.parse(JSON.stringify(await over('p/a1')));
    assert.deepEqual(property.Flags, {
      'last-update': 'TXN-0',
      'value-state': 'CONFIGURED',
      derived: 'a/1',
    });
    assert.deepEqual(property.Value, { ProtoMsgName: '', ProtoMsgData: { v: 7 } });
  });

  it('keeps the JSON whole whatever an error says', async () => {
    const bench = setUp();
    const { over } = asking(bench);
    const text = 'VPP said "no",\n\tthen \\ and "yes"';
    bench.southbound.fails = () => new Error(text);
    await bench.commit({ 'a/1': { v: 1 } });
    const [node] = JSON.parse(JSON.stringify(await over('a/1')));
    assert.deepEqual(node.Flags, {
      'last-update': 'TXN-0',
      error: text,
      'value-state': 'FAILED',
      unavailable: '',
      descriptor: 'alpha',
    });
  });

  it('names the transaction of each change, of the northbound or of the southbound', async () => {
    const bench = setUp();
    const { over } = asking(bench);
    const report = async (key: string, value: Spec | null) => {
      bench.southbound.changeExternally(key, value);
      bench.scheduler.pushNotification([{ key, value }]);
      await bench.scheduler.dump('SB', { descriptor: 'alpha' });
    };
    await bench.commit({ 'a/2': { v: 1, needs: ['a/1'] } });
    await report('a/1', { v: 1 });
    await bench.commit({ 'b/1': { v: 1 } });
    await report('a/1', null);
    bench.southbound.changeExternally('a/1', { v: 2 });
    await bench.commit({}, { mode: 'downstream-resync' });
    const txns = async (key: string) =>
      (await over(key)).map(({ Flags }) => `${Flags['value-state']} ${Flags['last-update']}`);
    assert.deepEqual(await txns('a/2'), [
      'PENDING TXN-0',
      'CONFIGURED TXN-1',
      'PENDING TXN-3',
      'CONFIGURED TXN-4',
    ]);
    assert.deepEqual(await txns('a/1'), ['OBTAINED TXN-1', 'OBTAINED TXN-4']);
    assert.deepEqual(await txns('b/1'), ['CONFIGURED TXN-2']);
  });

  it('distinguishes changes of the value from changes of related values', async () => {
    const bench = setUp();
    const { over, at } = asking(bench);
    await bench.commit({ 'a/1': { v: 1, needs: ['a/2', 'a/3'] } });
    await bench.clock.advance(MINUTE);
    await bench.commit({ 'a/2': { v: 1 } });
    await bench.clock.advance(MINUTE);
    await bench.commit({ 'a/3': { v: 1 } });
    const seen = (await over('a/1')).map((node) => [
      short(node),
      node.TargetUpdateOnly,
      node.Targets.map(({ MatchingKeys }) => MatchingKeys.join()).join('; '),
    ]);
    assert.deepEqual(seen, [
      ['00:00-01:00 PENDING', false, '; '],
      ['01:00-02:00 PENDING', true, 'a/2; '],
      ['02:00- CONFIGURED', false, 'a/2; a/3'],
    ]);
    const one = await at('a/1', (bench.clock.now() - 30_000) * 1000);
    assert.equal(one && short(one), '01:00-02:00 PENDING');
    assert.equal(one?.TargetUpdateOnly, true);
    assert.equal(await at('a/1', (bench.clock.now() - 3 * MINUTE) * 1000), undefined);
  });

  it('records metadata that a resync found to be different', async () => {
    const bench = setUp();
    const { over } = asking(bench);
    await bench.commit({ 'a/1': { v: 1 } });
    await bench.clock.advance(MINUTE);
    // Another component deleted the value and created it again.
    bench.southbound.renumber('a/1', 99);
    await bench.commit({}, { mode: 'downstream-resync' });
    const fields = (await over('a/1')).map(({ MetadataFields }) => MetadataFields['number']);
    assert.deepEqual(fields, [['1'], ['99']]);
  });

  it('shows a downstream resync that reconciled a value', async () => {
    const bench = setUp();
    const { over } = asking(bench);
    await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } });
    await bench.clock.advance(MINUTE);
    bench.southbound.fails = () => new Error('no');
    bench.southbound.values.delete('a/1');
    await bench.commit({}, { mode: 'downstream-resync' });
    assert.deepEqual((await over('a/1')).map(short), ['00:00-01:00 CONFIGURED', '01:00- FAILED']);
    assert.equal((await over('a/2')).length, 1);
  });
});

describe('snapshot of the graph', () => {
  it('returns any time, with the relations', async () => {
    const bench = setUp();
    const { graph, now } = asking(bench);
    const names = async (time?: number) =>
      (await graph(time)).map(({ Key, Flags }) => `${Key} ${Flags['value-state']}`);
    const before = now() - 1;
    await bench.commit({ 'a/2': { v: 1 }, 'a/1': { v: 1, needs: ['a/2'] } });
    const first = now();
    await bench.clock.advance(MINUTE);
    await bench.commit({ 'a/2': null });
    const second = now();
    await bench.clock.advance(MINUTE);
    await bench.commit({ 'a/1': null });
    assert.deepEqual(await names(before), []);
    assert.deepEqual(await names(first), ['a/1 CONFIGURED', 'a/2 CONFIGURED']);
    assert.deepEqual(await names(second), ['a/1 PENDING']);
    assert.deepEqual(await names(), []);
    const [node] = await graph(first);
    assert.deepEqual(node?.Targets[0]?.MatchingKeys, ['a/2']);
    assert.deepEqual((await graph(second))[0]?.Targets[0]?.MatchingKeys, []);
  });

  it('equals the current graph', async ({ name }) => {
    await checkProperty(
      { file: FILE, name },
      120,
      fc.asyncProperty(
        scripts({ wild: true, conflicts: true }, 6),
        fc.option(faults, { nil: undefined }),
        async (script, injected) => {
          const result = await runScript(script, {
            window: 100,
            conflicts: true,
            ...(injected && { faults: injected }),
          });
          await assertPresent(result);
        },
      ),
    );
  });

  it('stays the same later', async ({ name }) => {
    await checkProperty(
      { file: FILE, name },
      40,
      fc.asyncProperty(scripts({ wild: false, conflicts: false }, 6), async (script) => {
        const moments: { time: number; picture: Promise<string> }[] = [];
        const picture = async (bench: Bench, time: number) => {
          const nodes = await asking(bench).graph(time);
          return JSON.stringify(nodes.map((node) => ({ ...node, Until: '' })));
        };
        const check = (bench: Bench) => {
          const time = bench.scheduler.timeline.now;
          moments.push({ time, picture: picture(bench, time) });
        };
        const { bench } = await runScript(script, { window: 1, check, pause: MINUTE });
        for (const moment of moments)
          assert.equal(await picture(bench, moment.time), await moment.picture);
      }),
    );
  });
});

describe('a key at a time', () => {
  it('equals the snapshot of that time, without gaps', async ({ name }) => {
    await checkProperty(
      { file: FILE, name },
      40,
      fc.asyncProperty(scripts({ wild: true, conflicts: true }, 6), async (script) => {
        const times: number[] = [];
        const check = (bench: Bench) => void times.push(bench.scheduler.timeline.now);
        const { bench } = await runScript(script, {
          window: 1,
          check,
          pause: MINUTE,
          conflicts: true,
        });
        const { over, at, graph } = asking(bench);
        const keys = new Set<string>();
        for (const time of times)
          for (const node of await graph(time)) {
            keys.add(node.Key);
            const told = ({ Value, Flags, Targets }: RecordedNode) => [
              Value?.value,
              Flags,
              Targets,
            ];
            assert.deepEqual(told((await at(node.Key, time)) as RecordedNode), told(node));
          }
        for (const key of keys) {
          let until = '';
          for (const node of await over(key)) {
            assert.ok(node.Since >= until);
            if (node.TargetUpdateOnly) assert.equal(node.Since, until);
            until = node.Until;
          }
        }
      }),
    );
  });
});

/** The graph by the timeline against the graph by status and dump. */
async function assertPresent({ bench }: ScriptResult): Promise<void> {
  const { scheduler } = bench;
  const states: Record<string, string> = {};
  const counts: Record<string, number> = {};
  for (const { value, derived_values = [] } of scheduler.statuses())
    for (const { key, state } of [value, ...derived_values]) {
      states[key] = state;
      counts[state] = (counts[state] ?? 0) + 1;
    }
  const nodes = await asking(bench).graph();
  const recorded = nodes.map(({ Key, Flags }) => [Key, Flags['value-state']]);
  assert.deepEqual(Object.fromEntries(recorded), states);
  assert.deepEqual(
    Object.fromEntries([...scheduler.timeline.states].filter(([, count]) => count !== 0)),
    counts,
  );
  for (const descriptor of ['alpha', 'beta'])
    for (const { Key, Value, Metadata } of await scheduler.dump('cached', { descriptor })) {
      const node = nodes.find((one) => one.Key === Key);
      assert.deepEqual(node?.Value?.value, Value.value, Key);
      const number = Metadata === undefined ? undefined : [String(Metadata)];
      assert.deepEqual(node?.MetadataFields['number'], number, Key);
    }
}

describe('bounds of the timeline', () => {
  const limits = { ageMs: 10 * MINUTE, initMs: 2 * MINUTE, bytes: 1e6 };

  it('drops expired revisions, keeps the first period and current revisions', async () => {
    const bench = setUp({ history: limits });
    const { over } = asking(bench);
    await bench.commit({ 'a/1': { v: 1 }, 'a/2': { v: 1 } });
    await bench.clock.advance(MINUTE);
    await bench.commit({ 'a/1': { v: 2 } });
    await bench.clock.advance(9 * MINUTE);
    await bench.commit({ 'a/1': { v: 3 } });
    await bench.clock.advance(MINUTE);
    await bench.commit({ 'a/1': { v: 4 } });
    await bench.clock.advance(11 * MINUTE);
    await bench.commit({ 'b/1': { v: 1 } });
    assert.deepEqual((await over('a/1')).map(short), [
      '00:00-01:00 CONFIGURED',
      '01:00-10:00 CONFIGURED',
      '11:00- CONFIGURED',
    ]);
    assert.deepEqual((await over('a/2')).map(short), ['00:00- CONFIGURED']);
  });

  it('knows which times are complete', async () => {
    const bench = setUp({ history: limits });
    const { timeline } = bench.scheduler;
    await bench.clock.advance(3 * MINUTE);
    await bench.commit({ 'a/1': { v: 1 } });
    const start = timeline.now;
    await bench.clock.advance(MINUTE);
    await bench.commit({ 'a/1': null });
    const end = timeline.now;
    assert.ok(timeline.covers(start));
    await bench.clock.advance(11 * MINUTE);
    await bench.commit({ 'a/2': { v: 1 } });
    assert.deepEqual(
      [start - 1, start, end - 1, end, timeline.now].map((time) => timeline.covers(time)),
      [true, false, false, true, true],
    );
    assert.equal(timeline.get('a/1'), undefined);
  });

  it('applies the limit in bytes first', async () => {
    const bench = setUp({ history: { ...limits, bytes: 20_000 } });
    const { timeline } = bench.scheduler;
    for (let v = 0; v < 500; v++) {
      await bench.commit({ 'a/1': { v } });
      assert.ok(timeline.bytes <= 20_000, String(timeline.bytes));
    }
    assert.ok(timeline.bytes > 15_000);
    const nodes = await asking(bench).over('a/1');
    const values = nodes.map(numberOf);
    assert.equal(values[0], 0);
    assert.equal(values.at(-1), 499);
    assert.ok(values.length < 100);
  });

  it('adds nothing for values that a transaction leaves as they are', async () => {
    const bench = setUp();
    const { timeline } = bench.scheduler;
    const desired = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`a/${i}`, { v: 1 }]));
    await bench.commit(desired, { mode: 'full-resync' });
    const before = timeline.bytes;
    await bench.commit(desired, { mode: 'full-resync' });
    await bench.commit({}, { mode: 'downstream-resync' });
    await bench.commit({ ...desired, 'a/0': { v: 2 } }, { mode: 'full-resync' });
    assert.ok(timeline.bytes - before < 1_000, String(timeline.bytes - before));
  });
});

describe('statistics of flags', () => {
  it('count revisions, by value, of keys with one of the prefixes', async () => {
    const bench = setUp();
    await bench.commit({ 'a/1': { v: 1, needs: ['b/1'] } });
    await bench.commit({ 'b/1': { v: 1 }, 'a/2': { v: 1, derives: { 'd/a2.0': { v: 1 } } } });
    const { timeline } = bench.scheduler;
    const slices = new Slices(bench.clock);
    assert.deepEqual(await flagStats(timeline, 'value-state', [], slices), {
      TotalCount: 5,
      PerValueCount: { PENDING: 1, CONFIGURED: 4 },
    });
    assert.deepEqual(await flagStats(timeline, 'descriptor', ['b/', 'd/'], slices), {
      TotalCount: 2,
      PerValueCount: { beta: 1, derived: 1 },
    });
    assert.deepEqual(await flagStats(timeline, 'derived', [], slices), {
      TotalCount: 1,
      PerValueCount: { 'a/2': 1 },
    });
  });
});
