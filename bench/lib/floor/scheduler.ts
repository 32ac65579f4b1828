/**
 * One transaction of the scheduler in a new process, against ligato's. The process is like the agent of the
 * image: a bundle, the flags of main.ts, and a compile cache, which the first round writes.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withoutGo } from '#test/support/requirements.ts';
import { bundle } from '../../../scripts/lib/bundles.ts';
import { ReferenceProgram } from '../reference-program.ts';
import type { SchedulerCost } from '../scheduler-cost.ts';
import { agentFlags } from '../subprocess.ts';
import { inTurns, median, megabytes, milliseconds, type Part, type Row } from './row.ts';

const run = promisify(execFile);
const MEMORY_TARGET = 80 * 2 ** 20;

const works = [
  { name: '10,000 independent values', args: ['independent', '10000'] },
  { name: 'chain of 5,000 values', args: ['chain', '5000'] },
  { name: '1,000 values × 20 derived', args: ['derived', '1000', '20'] },
] as const;

export const scheduler: Part = { title: 'scheduler', needs: withoutGo, rows };

async function* rows(): AsyncGenerator<Row> {
  const ligato = await ReferenceProgram.go<SchedulerCost>('ligato');
  const folder = mkdtempSync(join(tmpdir(), 'scheduler-cost-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  await bundle({ 'scheduler-cost': 'bench/lib/scheduler-cost.ts' }, folder);
  for (const { name, args } of works) {
    const costs = await inTurns({
      ligato: () => ligato.run(...args),
      ours: () => ours(folder, args),
    });
    const cpu = (list: readonly SchedulerCost[]) => median(list.map(({ cpuMs }) => cpuMs));
    const [reference, own] = [cpu(costs.ligato), cpu(costs.ours)];
    yield {
      name: `${name}, CPU`,
      reference: `ligato ${milliseconds(reference)}`,
      ours: milliseconds(own),
      ratio: (own / reference).toFixed(2),
      target: '≤ ligato',
      met: own <= reference,
    };
    if (args[0] === 'independent') yield memory(costs.ligato, costs.ours);
  }
}

async function ours(folder: string, args: readonly string[]): Promise<SchedulerCost> {
  const program = join(folder, 'scheduler-cost.js');
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') };
  const { stdout } = await run(process.execPath, [...agentFlags, program, ...args], { env });
  return JSON.parse(stdout) as SchedulerCost;
}

/** Of the whole process, when both have returned free memory to the system; and before that. */
function memory(ligato: readonly SchedulerCost[], ours: readonly SchedulerCost[]): Row {
  const rss = (list: readonly SchedulerCost[]) => median(list.map(({ rssBytes }) => rssBytes));
  const text = (list: readonly SchedulerCost[]) =>
    `${megabytes(rss(list))}; before it returns free memory ${megabytes(median(list.map(({ restRssBytes }) => restRssBytes)))}`;
  const [reference, own] = [rss(ligato), rss(ours)];
  return {
    name: '10,000 values, memory',
    reference: `ligato ${text(ligato)}`,
    ours: text(ours),
    ratio: (own / reference).toFixed(2),
    target: `≤ ${megabytes(MEMORY_TARGET)}`,
    met: own <= MEMORY_TARGET,
  };
}
