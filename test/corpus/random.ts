/**
 * Random scripts on a scheduler, with the generators of the property tests and fixed seeds. Each
 * script is one line of hashes; the whole text is written by CV_CORPUS_DUMP.
 */
import fc from 'fast-check';
import { descriptorVariants } from '#test/kvscheduler/support/descriptor-variants.ts';
import { type Ask, restOf } from '#test/kvscheduler/support/rest.ts';
import {
  clearFaults,
  type RunOptions,
  runScript,
  type ScriptResult,
} from '#test/kvscheduler/support/run-script.ts';
import { faults, type Step, scripts } from '#test/kvscheduler/support/scripts.ts';
import type { Bench } from '#test/kvscheduler/support/setup.ts';
import { normalized, withoutRepetition } from './normalize.ts';
import type { Recording } from './recording.ts';

interface Family {
  readonly name: string;
  readonly count: number;
  readonly seed: number;
  readonly wild?: boolean;
  readonly conflicts?: boolean;
  readonly length: number;
  readonly withFaults?: boolean;
  readonly settings?: Omit<RunOptions, 'window' | 'variants'>;
}

const retry = { periodMs: 100, maxAttempts: 3, exponential: true };

export const families: readonly Family[] = [
  { name: 'tame', count: 450, seed: 101, length: 5 },
  { name: 'claims', count: 350, seed: 102, length: 4, conflicts: true },
  { name: 'failures', count: 450, seed: 103, length: 4, withFaults: true },
  {
    name: 'retries',
    count: 200,
    seed: 104,
    length: 4,
    withFaults: true,
    settings: { retry, pause: 300 },
  },
  { name: 'circles', count: 260, seed: 105, length: 4, wild: true },
  { name: 'circles with failures', count: 120, seed: 106, length: 4, wild: true, withFaults: true },
  { name: 'verified', count: 100, seed: 107, length: 4, settings: { options: { verify: true } } },
  { name: 'late replies', count: 100, seed: 108, length: 4, settings: { shuffle: 9 } },
];

const windows = [1, 3, 100] as const;

export async function recordFamily(recording: Recording, family: Family): Promise<void> {
  const { name, count, seed, wild = false, conflicts = wild, length, withFaults } = family;
  const cases = fc.sample(
    fc.tuple(scripts({ wild, conflicts }, length), faults, descriptorVariants),
    {
      numRuns: count,
      seed,
    },
  );
  for (const [index, [script, fault, described]] of cases.entries()) {
    const window = windows[index % windows.length] ?? 1;
    const settings: RunOptions = {
      window,
      conflicts,
      variants: described,
      ...(withFaults && { faults: fault }),
      ...family.settings,
    };
    const lines = await outcomeOf(script, settings);
    recording.addHashed(`${name}, seed ${seed}`, `${index} window ${window}`, lines);
  }
}

/** Of one script; all scripts together have had each key. */
const MOST_TIMELINES = 6;

type Outcome = ReadonlyMap<string, readonly string[]>;

async function outcomeOf(script: readonly Step[], settings: RunOptions): Promise<Outcome> {
  let last: Bench | undefined;
  const check = (bench: Bench) => {
    last = bench;
  };
  let played: ScriptResult | undefined;
  const outcome = new Map<string, readonly string[]>();
  try {
    played = await runScript(script, { ...settings, check });
  } catch (error) {
    // The southbound has judged that something may not be: what it says belongs to the record.
    const problems = last?.southbound.violations ?? [];
    outcome.set('problems', problems.length > 0 ? problems : [String(error)]);
  }
  outcome.set(
    'operations',
    (played?.calls ?? []).flatMap((calls, at) => [`-- ${at}`, ...calls]),
  );
  outcome.set('southbound', played?.pictures ?? []);
  if (played) await documentsOf(played.bench, outcome);
  return outcome;
}

async function documentsOf(bench: Bench, outcome: Map<string, readonly string[]>): Promise<void> {
  const ask = restOf(bench);
  const records = (await answerOf(ask, 'GET /scheduler/txn-history')) as unknown[];
  outcome.set('records', linesOf(records.flatMap(recordLines)));
  outcome.set('states', linesOf(await answerOf(ask, 'GET /scheduler/status')));
  const graph = (await answerOf(ask, 'GET /scheduler/graph-snapshot')) as { Key: string }[];
  const timelines: unknown[] = [graph];
  for (const { Key } of graph.slice(0, MOST_TIMELINES))
    timelines.push(await answerOf(ask, `GET /scheduler/key-timeline?key=${Key}`));
  outcome.set('timeline', linesOf(timelines));
  clearFaults(bench);
  const dumps: unknown[] = [];
  for (const { name } of bench.scheduler.descriptors)
    for (const view of ['cached', 'NB'])
      dumps.push(await answerOf(ask, `GET /scheduler/dump?descriptor=${name}&view=${view}`));
  outcome.set('dump', linesOf(dumps));
}

/** The head of a record, then its operations. */
function recordLines(record: unknown): unknown[] {
  const { Planned = [], Executed = [], ...head } = withoutRepetition(record) as TxnDocument;
  return [head, ...Planned, 'executed', ...(typeof Executed === 'string' ? [Executed] : Executed)];
}

interface TxnDocument {
  readonly Planned?: readonly unknown[];
  readonly Executed?: readonly unknown[] | string;
}

async function answerOf(ask: Ask, call: string): Promise<unknown> {
  const { body } = await ask(call);
  return body;
}

/** An element a line. */
const linesOf = (list: unknown): string[] =>
  (Array.isArray(list) ? list : [list]).map((one) => JSON.stringify(normalized(one)));
