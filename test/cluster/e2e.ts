/** The published tests of Kubernetes, run from outside the nodes; results from their JUnit reports. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf } from './folder.ts';
import { programPath } from './go-programs.ts';
import { readJunit } from './junit.ts';
import { kubeconfig } from './kubeconfig.ts';
import { enterNetns, OUTSIDE } from './network.ts';
import type { CaseResult } from './results.ts';

export interface E2eSelection {
  /** Regular expression over the full name of a test. */
  readonly focus: string;
  /** Likewise, of tests that do not run. */
  readonly skip?: string;
  /** Tests at a time; those that need the cluster alone run one by one. */
  readonly processes: number;
  readonly nodes: number;
}

const LIMIT = '2h';

/** Runs the selected tests. @param name of the suite, for its files */
export async function runE2e(name: string, selection: E2eSelection): Promise<CaseResult[]> {
  const folder = folderOf('run/e2e', name);
  rmSync(folder, { recursive: true });
  folderOf('run/e2e', name);
  const log = openSync(join(folder, 'output.log'), 'w');
  const { focus, skip, processes, nodes } = selection;
  const child = spawn(
    'setpriv',
    [
      ...['--pdeathsig', 'KILL', ...enterNetns(OUTSIDE), programPath('ginkgo')],
      ...[`--procs=${processes}`, `--focus=${focus}`, ...(skip ? [`--skip=${skip}`] : [])],
      ...['--no-color', `--timeout=${LIMIT}`, '--keep-going', '--poll-progress-after=0'],
      ...[programPath('e2e.test'), '--', '--provider=skeleton', `--kubeconfig=${kubeconfig()}`],
      ...[`--kubectl-path=${programPath('kubectl')}`, `--num-nodes=${nodes}`],
      ...['--allowed-not-ready-nodes=0', `--report-dir=${folder}`, '--disable-log-dump'],
    ],
    { cwd: folder, stdio: ['ignore', log, log] },
  );
  await once(child, 'exit');
  const results = globSync(join(folder, 'junit*.xml')).flatMap((file) =>
    readJunit(readFileSync(file, 'utf8')),
  );
  if (results.length === 0) throw new Error(`no test ran: see ${join(folder, 'output.log')}`);
  return results;
}
