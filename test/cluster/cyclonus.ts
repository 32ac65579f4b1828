/** The cases of network policies that cyclonus generates, each checked by probes between nine pods. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf } from './folder.ts';
import { programPath } from './go-programs.ts';
import { readJunit } from './junit.ts';
import { kubeconfig } from './kubeconfig.ts';
import { enterNetns, OUTSIDE } from './network.ts';
import type { CaseResult } from './results.ts';

export async function runCyclonus(): Promise<CaseResult[]> {
  const folder = folderOf('run/cyclonus');
  const report = join(folder, 'junit.xml');
  rmSync(report, { force: true });
  const output = join(folder, 'output.log');
  const log = openSync(output, 'w');
  const child = spawn(
    'setpriv',
    [
      ...['--pdeathsig', 'KILL', ...enterNetns(OUTSIDE), programPath('cyclonus')],
      `--junit=${report}`,
    ],
    { stdio: ['ignore', log, log], env: { ...process.env, KUBECONFIG: kubeconfig() } },
  );
  await once(child, 'exit');
  if (!existsSync(report)) throw new Error(`cyclonus ended early: see ${output}`);
  return withWrongProbes(readJunit(readFileSync(report, 'utf8')), readFileSync(output, 'utf8'));
}

/** Its report says which cases failed, its output how many probes of each attempt had another result. */
export function withWrongProbes(cases: readonly CaseResult[], output: string): CaseResult[] {
  const sections = output.split(/^case \d+ of \d+: /m).slice(1);
  return cases.map((result, i) => {
    if (result.outcome !== 'failed') return result;
    const wrong = sections[i]?.match(/^[1-9]\d* wrong, .*$/gm) ?? [];
    return { ...result, message: wrong.join('; then ') };
  });
}
