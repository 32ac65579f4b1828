/**
 * The suite `network-policy-api`: the conformance tests of ClusterNetworkPolicy, whose definition it installs. A run that ends
 * leaves its report in the docs, as the maintainers of the API ask for it.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { folderOf } from './folder.ts';
import { programPath, publishedModule } from './go-programs.ts';
import { readGoTestOutput } from './go-test-output.ts';
import { kubeconfig } from './kubeconfig.ts';
import { kubectl } from './kubectl.ts';
import { enterNetns, OUTSIDE } from './network.ts';
import type { CaseResult } from './results.ts';
import type { Suite } from './suite.ts';

const CRD = 'config/crd/experimental/policy.networking.k8s.io_clusternetworkpolicies.yaml';

const ROOT = resolve(import.meta.dirname, '../..');
/** By release of the API, as its maintainers keep them. */
const REPORT = 'docs/conformance/network-policy-api-v0.3.0/contiv-vswitch.yaml';

/** The implementation in the report. Addresses are to be those of the project when the report is published. */
const implementation = {
  organization: 'contiv',
  project: 'contiv-vswitch',
  url: 'https://contivpp.io',
  contact: 'https://contivpp.io',
  'additional-info': 'npm run test:kubernetes -- run network-policy-api',
};

export const networkPolicyApiSuite: Suite = {
  title: 'Policies of clusters (network-policy-api)',
  notRun: [
    'SCTP and tests that use it beside others, where the kernel of the machine has no such sockets',
  ],
  run: async () => ({ cases: await runConformance() }),
};

async function runConformance(): Promise<CaseResult[]> {
  const crd = join(publishedModule('network-policy-api'), CRD);
  kubectl('apply', '--server-side', '-f', crd);
  kubectl('wait', '--for=condition=Established', '-f', crd);
  const folder = folderOf('run/network-policy-api');
  const file = join(folder, 'output.log');
  const report = join(folder, 'report.yaml');
  rmSync(report, { force: true });
  const version = execFileSync('git', ['rev-parse', 'HEAD'], {
    cwd: ROOT,
    encoding: 'utf8',
  }).trim();
  const log = openSync(file, 'w');
  const child = spawn(
    'setpriv',
    [
      ...['--pdeathsig', 'KILL', ...enterNetns(OUTSIDE), programPath('network-policy-api.test')],
      ...['-test.v', '-test.timeout=2h', '-test.run=^TestConformance$', '-all-features'],
      ...['-conformance-profiles=ClusterNetworkPolicy', `-report-output=${report}`],
      ...Object.entries({ ...implementation, version }).map(([name, value]) => `-${name}=${value}`),
    ],
    { stdio: ['ignore', log, log], env: { ...process.env, KUBECONFIG: kubeconfig() } },
  );
  await once(child, 'exit');
  const results = readGoTestOutput(readFileSync(file, 'utf8'));
  if (results.length === 0) throw new Error(`no test ran: see ${file}`);
  if (existsSync(report)) {
    const kept = join(ROOT, REPORT);
    mkdirSync(dirname(kept), { recursive: true });
    copyFileSync(report, kept);
  }
  return results.filter(isSubTest);
}

/** A test whose sub-tests are all left out passes by itself. */
function isSubTest({ name, outcome }: CaseResult): boolean {
  return outcome !== 'passed' || name.split('/').length > 2;
}
