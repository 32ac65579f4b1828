/**
 * How the CPU time of the initial load, and that of one change, grow with the size of each of ten
 * dimensions: values, failed values, pending values, selectors, nodes, pods, policies, services, history,
 * watchers. Fails when one grows faster than it may.
 *
 * The sizes of a dimension are four times apart, over a range of 64. All are loaded in one process, and
 * changed in turn, so that other load of the machine, the compiler and garbage collection affect them
 * alike. Numbers are medians: of the CPU time of the main thread for a load, and of the time for which
 * the event loop was busy for a change. The kernel may count CPU time in ticks of 4 ms, which is longer
 * than most changes. Periodic work, which does not depend on changes, is in few of them.
 *
 * A load may grow as N log N. Over the last two steps, a factor of 16, that is an exponent of 1.1. It
 * fails above 1.4: when the part that grows as N² costs two and a half times the rest. The first sizes
 * do not count, since constant costs dominate them.
 *
 * A change may grow as log N, 1.6 between 1,000 and 64,000, and by what a larger heap costs in the caches
 * of the processor. It fails above 2.5 between the smallest and the largest size: when the part that
 * grows as N costs one and a half times the rest. What is above is measured again, once: other load
 * makes a number larger, never smaller. A change whose value contains all N may grow as a load does.
 */
import { agentDimensions } from './lib/growth/agent-dimensions.ts';
import type { Change, Dimension, Loaded } from './lib/growth/dimension.ts';
import { handlerDimensions } from './lib/growth/handler-dimensions.ts';
import { schedulerDimensions } from './lib/growth/scheduler-dimensions.ts';
import { type Print, runInSubprocess } from './lib/subprocess.ts';

export const NAME = 'growth: ten dimensions';

const MAX_LOAD_EXPONENT = 1.4;
const MAX_CHANGE_RATIO = 2.5;
const LOAD_ROUNDS = 3;
const CHANGE_ROUNDS = 11;
const WARM_UP_ROUNDS = 4;
/** A load that costs more is not repeated; one that would cost more is not tried. */
const SHORT_LOAD_MS = 400;
const LONG_LOAD_MS = 20_000;
const LONG_BATCH_MS = 50;

const dimensions = [...schedulerDimensions, ...agentDimensions, ...handlerDimensions];

export async function run(print: Print): Promise<void> {
  const failed: string[] = [];
  for (const { name } of dimensions)
    await runInSubprocess(import.meta.filename, name, print).catch(() => failed.push(name));
  if (failed.length > 0) throw new Error(`grows too fast: ${failed.join(', ')}`);
}

/** @returns whether it grows as it may */
async function runDimension(dimension: Dimension, print: Print): Promise<boolean> {
  const { name, sizes, load } = dimension;
  print(`${name}: ${sizes.map(count).join(', ')}`);
  const { costs, all } = await loads(dimension);
  try {
    const exponent = exponentOf(costs.slice(-3));
    const isComplete = costs.length === sizes.length;
    const isLoadOk = isComplete && exponent <= MAX_LOAD_EXPONENT;
    print(
      `  load: ${costs.map(ms).join(', ')}${isComplete ? '' : ', the next one would take too long'}; ` +
        `as N^${exponent.toFixed(2)}${judged(isLoadOk, `N^${MAX_LOAD_EXPONENT}`)}: ${load}`,
    );
    let isOk = isLoadOk;
    for (const what of Object.keys(all[0]?.changes ?? {}))
      isOk = (await runChange(dimension, what, all, print)) && isOk;
    return isOk;
  } finally {
    for (const one of all) await one[Symbol.asyncDispose]();
  }
}

async function loads(dimension: Dimension) {
  const costs: number[] = [];
  const all: Loaded[] = [];
  // compiles the code
  const [first = 0] = dimension.sizes;
  await (await (await dimension.prepare(first))())[Symbol.asyncDispose]();
  for (const size of dimension.sizes) {
    const [before = 0, last = 0] = costs.slice(-2);
    if (before > 0 && (last * last) / before > LONG_LOAD_MS) break;
    const times: number[] = [];
    let one: Loaded | undefined;
    for (let round = 0; round < LOAD_ROUNDS; round++) {
      await one?.[Symbol.asyncDispose]();
      const start = await dimension.prepare(size);
      globalThis.gc?.();
      times.push(
        await cpuOf(async () => {
          one = await start();
        }),
      );
      if (times[0]! > SHORT_LOAD_MS) break;
    }
    costs.push(median(times));
    all.push(one!);
  }
  return { costs, all };
}

async function runChange(
  { batch }: Dimension,
  what: string,
  all: readonly Loaded[],
  print: Print,
): Promise<boolean> {
  const changes = all.map((one) => one.changes[what]!);
  const rounds = new RoundNumbers();
  await measured(changes, batch, WARM_UP_ROUNDS, rounds);
  let costs: readonly number[] = [];
  let isOk = false;
  for (let attempt = 0; attempt < 2 && !isOk; attempt++) {
    costs = await measured(changes, batch, CHANGE_ROUNDS, rounds);
    isOk = isFlat(changes[0]!, costs);
  }
  const { isLinear } = changes[0]!;
  const [first = 0] = costs;
  const growth =
    isLinear === undefined
      ? `times ${((costs.at(-1) ?? 0) / first).toFixed(2)}${judged(isOk, `times ${MAX_CHANGE_RATIO}`)}`
      : `as N^${exponentOf(costs.slice(-3)).toFixed(2)}${judged(isOk, `N^${MAX_LOAD_EXPONENT}`)}, ${isLinear}`;
  print(`  ${what}: ${costs.map(ms).join(', ')}; ${growth}`);
  return isOk;
}

function isFlat({ isLinear }: Change, costs: readonly number[]): boolean {
  if (isLinear !== undefined) return exponentOf(costs.slice(-3)) <= MAX_LOAD_EXPONENT;
  return (costs.at(-1) ?? 0) / (costs[0] ?? 1) <= MAX_CHANGE_RATIO;
}

/** Each change has a number of its own. */
class RoundNumbers {
  #next = 0;

  take(batch: number): number {
    this.#next += batch;
    return this.#next - batch;
  }
}

/** @returns median of the busy time of one change, by size */
async function measured(
  changes: readonly Change[],
  batch: number,
  rounds: number,
  numbers: RoundNumbers,
): Promise<readonly number[]> {
  const times = changes.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    const from = numbers.take(batch);
    for (const [at, { make }] of changes.entries()) {
      const start = busyNow();
      for (let made = 0; made < batch && busyNow() - start < LONG_BATCH_MS; made++) {
        const before = busyNow();
        await make(from + made);
        times[at]!.push(busyNow() - before);
      }
    }
  }
  return times.map(median);
}

/** @param costs of sizes that are four times apart */
function exponentOf(costs: readonly number[]): number {
  const [first = 1] = costs;
  const last = costs.at(-1) ?? 1;
  return Math.log(last / first) / Math.log(4 ** (costs.length - 1));
}

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const start = cpuNow();
  await work();
  return cpuNow() - start;
}

/** Milliseconds. */
function cpuNow(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds. */
function busyNow(): number {
  return performance.eventLoopUtilization().active;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1]!;
const count = (value: number): string => value.toLocaleString('en');
const ms = (value: number): string =>
  value < 10 ? `${value.toFixed(2)} ms` : `${value.toFixed(0)} ms`;
const judged = (isMet: boolean, limit: string): string =>
  ` (limit ${limit}: ${isMet ? 'met' : 'EXCEEDED'})`;

if (import.meta.main) {
  const dimension = dimensions.find(({ name }) => name === process.argv[2]);
  if (dimension === undefined) throw new Error(`no dimension ${process.argv[2]}`);
  const isOk = await runDimension(dimension, console.log);
  process.exit(isOk ? 0 : 1);
}
