/** The suite `network-policy-api`: the conformance tests of ClusterNetworkPolicy, whose definition it installs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf } from './folder.ts';
import { programPath, publishedModule } from './go-programs.ts';
import { readGoTestOutput } from './go-test-output.ts';
import { kubeconfig } from './kubeconfig.ts';
import { kubectl } from './kubectl.ts';
import { enterNetns, OUTSIDE } from './network.ts';
import type { CaseResult } from './results.ts';
import type { Suite } from './suite.ts';

const CRD = 'config/crd/experimental/policy.networking.k8s.io_clusternetworkpolicies.yaml';

/** Below the tests, one of each policy; a part of each of these sends SCTP. */
const sctpTests = ['SCTP', 'cidr-peer', 'node-peer', 'different_protocols'];

export const networkPolicyApiSuite: Suite = {
  title: 'Policies of clusters (network-policy-api)',
  notRun: [
    'SCTP and tests that use it beside others: the kernel of the machine has no such sockets',
  ],
  run: async () => ({ cases: await runConformance() }),
};

async function runConformance(): Promise<CaseResult[]> {
  const crd = join(publishedModule('network-policy-api'), CRD);
  kubectl('apply', '--server-side', '-f', crd);
  kubectl('wait', '--for=condition=Established', '-f', crd);
  const file = join(folderOf('run/network-policy-api'), 'output.log');
  const log = openSync(file, 'w');
  const child = spawn(
    'setpriv',
    [
      ...['--pdeathsig', 'KILL', ...enterNetns(OUTSIDE), programPath('network-policy-api.test')],
      ...['-test.v', '-test.timeout=2h', `-test.skip=TestConformance//(${sctpTests.join('|')})`],
      '-test.run=^TestConformance$',
    ],
    { stdio: ['ignore', log, log], env: { ...process.env, KUBECONFIG: kubeconfig() } },
  );
  await once(child, 'exit');
  const results = readGoTestOutput(readFileSync(file, 'utf8'));
  if (results.length === 0) throw new Error(`no test ran: see ${file}`);
  return results;
}
