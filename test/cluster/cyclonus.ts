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

/** From a change of a policy or a pod to the probes. */
const SETTLE_SECONDS = 3;

/** @param tags of the cases to run; default: all. They are in the help of the program */
export async function runCyclonus(tags: readonly string[] = []): Promise<CaseResult[]> {
  const folder = folderOf('run/cyclonus');
  const report = join(folder, 'junit.xml');
  rmSync(report, { force: true });
  const log = openSync(join(folder, 'output.log'), 'w');
  const child = spawn(
    'setpriv',
    [
      ...['--pdeathsig', 'KILL', ...enterNetns(OUTSIDE), programPath('cyclonus'), 'generate'],
      // A policy may deny DNS, and pods that a case creates have no service yet.
      ...['--destination-type=pod-ip', '--server-protocol=TCP,UDP', '--ignore-loopback'],
      ...['--exclude=', ...(tags.length > 0 ? [`--include=${tags.join(',')}`] : [])],
      ...[`--perturbation-wait-seconds=${SETTLE_SECONDS}`, '--cleanup-namespaces'],
      `--junit-results-file=${report}`,
    ],
    { stdio: ['ignore', log, log], env: { ...process.env, KUBECONFIG: kubeconfig() } },
  );
  await once(child, 'exit');
  if (!existsSync(report))
    throw new Error(`cyclonus ended early: see ${join(folder, 'output.log')}`);
  return readJunit(readFileSync(report, 'utf8'));
}
