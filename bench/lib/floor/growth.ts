/** Growth with the number of nodes, and the longest stretch on the main thread, on a simulated southbound. */
import { performance } from 'node:perf_hooks';
import { agentDimensions } from '../growth/agent-dimensions.ts';
import { InstantSouthbound, routes } from '../instant-southbound.ts';
import { measure } from '../measure.ts';
import { runInSubprocess } from '../subprocess.ts';
import { median, milliseconds, type Part, ROUNDS, type Row } from './row.ts';

const NODES = [2, 500, 5_000] as const;
const ADDS = 15;
const WARM_UP = 5;
const VALUES = 100_000;
const GROWTH_TARGET = 1.1;
const START_TARGET_MS = 5_000;
const STRETCH_TARGET_MS = 20;

export const growth: Part = { title: 'growth', needs: () => false, rows };

interface Nodes {
  /** Of the start of an agent that finds as many nodes. */
  readonly startMs: number;
  /** Processor time of an ADD. */
  readonly addMs: number;
}

async function* rows(): AsyncGenerator<Row> {
  const all: Nodes[][] = NODES.map(() => []);
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, size] of NODES.entries()) all[i]?.push(await inSubprocess('nodes', size));
  const adds = all.map((list) => median(list.map(({ addMs }) => addMs)));
  const ratio = (adds[2] as number) / (adds[0] as number);
  yield {
    name: 'pod ADD, CPU of the agent at 2 / 500 / 5,000 nodes',
    reference: 'flat',
    ours: `${adds.map((ms) => ms.toFixed(1)).join(' / ')} ms`,
    ratio: ratio.toFixed(2),
    target: '≤ 10 % growth',
    met: ratio <= GROWTH_TARGET,
  };
  const start = median((all[2] as Nodes[]).map(({ startMs }) => startMs));
  yield {
    name: 'start with 5,000 nodes',
    reference: '',
    ours: milliseconds(start),
    ratio: '',
    target: '≤ 5 s',
    met: start <= START_TARGET_MS,
  };
  const stretches: number[] = [];
  for (let round = 0; round < ROUNDS; round++) stretches.push(await inSubprocess('stretch'));
  const stretch = median(stretches);
  yield {
    name: 'longest stretch on the main thread at 100,000 values',
    reference: '',
    ours: `${stretch.toFixed(1)} ms`,
    ratio: '',
    target: '≤ 20 ms',
    met: stretch <= STRETCH_TARGET_MS,
  };
}

/** The start of an agent with as many nodes, then pods that are attached. */
async function nodes(size: number): Promise<Nodes> {
  const dimension = agentDimensions.find(({ name }) => name === 'nodes')!;
  const start = await dimension.prepare(size);
  const begun = performance.now();
  const loaded = await start();
  const startMs = performance.now() - begun;
  const { make } = loaded.changes['a pod is attached']!;
  const cpu: number[] = [];
  for (let round = 0; round < WARM_UP + ADDS; round++) {
    const before = process.cpuUsage();
    await make(round);
    const { user, system } = process.cpuUsage(before);
    if (round >= WARM_UP) cpu.push((user + system) / 1000);
  }
  await loaded[Symbol.asyncDispose]();
  return { startMs, addMs: median(cpu) };
}

/** Of a first resync, a resync without a change, and an upstream resync. */
async function stretch(): Promise<number> {
  const scheduler = new InstantSouthbound().scheduler();
  const longest: number[] = [];
  for (const mode of ['full-resync', 'full-resync', 'upstream-resync'] as const) {
    const values = routes(VALUES);
    const request = { description: 'bench', mode, onFailure: 'best-effort', values } as const;
    longest.push((await measure(() => scheduler.commit(request))).longest.cpuMs);
  }
  await scheduler.close();
  return Math.max(...longest);
}

/** Without the heap and the compiled code of other measurements. */
async function inSubprocess<Result>(step: 'nodes' | 'stretch', size = 0): Promise<Result> {
  let line = '';
  await runInSubprocess(import.meta.filename, `${step} ${size}`, (text) => {
    line = text;
  });
  return JSON.parse(line) as Result;
}

if (import.meta.main) {
  const [step, size] = (process.argv[2] ?? '').split(' ');
  console.log(JSON.stringify(step === 'nodes' ? await nodes(Number(size)) : await stretch()));
  process.exit(0);
}
