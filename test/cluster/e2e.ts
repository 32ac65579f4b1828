/** The published tests of Kubernetes, run from outside the nodes; results from their JUnit reports. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf } from './folder.ts';
import { programPath } from './go-programs.ts';
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
  const results = globSync(join(folder, 'junit*.xml')).flatMap(readJunit);
  if (results.length === 0) throw new Error(`no test ran: see ${join(folder, 'output.log')}`);
  return results;
}

/** Cases of a report; those that were not selected are left out. */
export function readJunit(file: string): CaseResult[] {
  const text = readFileSync(file, 'utf8');
  const cases = text.matchAll(/<testcase ([^>]*?)(?:\/>|>(.*?)<\/testcase>)/gs);
  return [...cases]
    .map(([, attributes = '', body = '']) => readCase(attributes, body))
    .filter((result) => result !== undefined);
}

function readCase(attributes: string, body: string): CaseResult | undefined {
  const isTest = attribute(attributes, 'name').startsWith('[It]');
  const name = attribute(attributes, 'name').replace(/^\[It\] /, '');
  const seconds = Number(attribute(attributes, 'time'));
  switch (attribute(attributes, 'status')) {
    case 'passed':
      // Set-up and tear-down are cases of their own, of which only failures count.
      return isTest ? { name, outcome: 'passed', message: '', seconds } : undefined;
    case 'pending':
      return undefined;
    case 'skipped': {
      // `skipped` alone means that the selection left it out; a test that skips itself gives its reason.
      const message = attribute(/<skipped ([^>]*)>/.exec(body)?.[1] ?? '', 'message');
      const reason = message.replace(/^skipped( - )?/, '');
      return reason === '' ? undefined : { name, outcome: 'skipped', message: reason };
    }
    default: {
      const failure = /<(?:failure|error) ([^>]*)>/.exec(body)?.[1] ?? '';
      return { name, outcome: 'failed', message: attribute(failure, 'message'), seconds };
    }
  }
}

function attribute(attributes: string, name: string): string {
  const value = new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(attributes)?.[1] ?? '';
  return value
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&#34;', '"')
    .replaceAll(/&#x([0-9a-fA-F]+);/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll('&amp;', '&');
}
