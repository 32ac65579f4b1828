/** Stages of the tests of Kubernetes: `help` lists them. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { clusterDown, clusterUp } from '#test/cluster/cluster.ts';
import { buildImages } from '#test/cluster/images.ts';
import { kubectlCommand } from '#test/cluster/kubectl.ts';
import { allExceptions } from '#test/cluster/manifests.ts';
import { buildPrograms, checkMachine } from '#test/cluster/programs.ts';
import { CLUSTER_REPORT, renderClusterReport } from '#test/cluster/report.ts';
import { readResults, type SuiteResult, writeResult } from '#test/cluster/results.ts';
import { clusterText, readSettings, settingsOf } from '#test/cluster/settings.ts';
import { suites, suitesFor } from '#test/cluster/suites.ts';
import { provenTrees } from '#test/cluster/trees.ts';
import { vppVersion } from '#test/cluster/vpp-version.ts';

const USAGE = `npm run test:kubernetes                      all stages, one after the other, and docs/kubernetes-report.md
npm run test:kubernetes -- programs          builds the programs of Kubernetes and of the tests
npm run test:kubernetes -- images            builds the images, those of this tree each time
npm run test:kubernetes -- up                starts a cluster of this tree's images
npm run test:kubernetes -- run <suite> …     runs suites on it and writes the report; without names: all of what exists
npm run test:kubernetes -- report            writes the report of the last run of each suite again
npm run test:kubernetes -- kubectl <words>   kubectl as its administrator
npm run test:kubernetes -- down              ends it, also one that a killed command has left

suites: ${Object.keys(suites).join(', ')}

CLUSTER_NODES is the number of nodes, CLUSTER_KUBE_PROXY is iptables, nftables or none, CLUSTER_FAMILIES ipv4, ipv6,
ipv4,ipv6 or ipv6,ipv4, CLUSTER_ETCD_PROXIES the number of proxies before etcd, CLUSTER_FOLDER the folder for all that it makes. Exit code 1 when a test failed.`;

const print = (line: string): void => console.log(line);

const stages: Readonly<Record<string, (words: readonly string[]) => void | Promise<void>>> = {
  programs: () => buildPrograms(print),
  images: () => buildImages(print),
  up: () => clusterUp(settingsOf(process.env), print),
  run: async (names) => {
    const unknown = names.find((name) => suites[name] === undefined);
    if (unknown !== undefined) endWithUsage(`no suite ${unknown}`);
    for (const name of names.length > 0 ? names : suitesFor(readSettings())) await runSuite(name);
    writeReport();
  },
  kubectl: (words) => {
    const [program, ...args] = kubectlCommand();
    process.exitCode = spawnSync(program!, [...args, ...words], { stdio: 'inherit' }).status ?? 1;
  },
  report: () => writeReport(),
  down: clusterDown,
  help: () => print(USAGE),
};

function endWithUsage(text: string): never {
  console.error(`${text}\n\n${USAGE}`);
  process.exit(2);
}

async function runSuite(name: string): Promise<void> {
  const settings = readSettings();
  if (settings === undefined) throw new Error('no cluster: npm run test:kubernetes -- up');
  const suite = suites[name]!;
  const start = performance.now();
  const { trees = [] } = settings;
  const { cases, measures = [] } = await suite.run(settings);
  const seconds = Math.round((performance.now() - start) / 1000);
  const result = { suite: name, trees, cluster: clusterText(settings), seconds, cases, measures };
  writeResult(result);
  printResult(result);
}

function printResult({ suite, seconds, cases, measures }: SuiteResult): void {
  const count = (outcome: string): number =>
    cases.filter((found) => found.outcome === outcome).length;
  print(
    `${suite}: ${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped, ${seconds} s`,
  );
  for (const { outcome, name, message } of cases)
    if (outcome !== 'passed') print(`  ${outcome}: ${name}: ${message.split('\n')[0]}`);
  for (const measure of measures) print(`  ${measure}`);
  if (count('failed') > 0) process.exitCode = 1;
}

function writeReport(): void {
  const reported = Object.entries(suites).map(([name, { title, notRun, needs }]) => ({
    title,
    notRun,
    needs: needs?.what,
    results: readResults(name),
  }));
  const facts = { vpp: vppVersion(), exceptions: allExceptions(), trees: provenTrees() };
  writeFileSync(CLUSTER_REPORT, renderClusterReport(reported, facts));
  print(`written: ${CLUSTER_REPORT}`);
}

async function runAll(): Promise<void> {
  try {
    for (const name of ['programs', 'images', 'up', 'run'] as const) await stages[name]!([]);
  } finally {
    await clusterDown();
  }
}

const [name, ...words] = process.argv.slice(2);
if (name !== undefined && stages[name] === undefined) endWithUsage(`no stage ${name}`);
if (name !== 'help') checkMachine();
// A command that is ended leaves a cluster that others started, and takes its own with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    const ended = name === undefined || name === 'up' ? clusterDown() : Promise.resolve();
    void ended.finally(() => process.exit(1));
  });
await (name === undefined ? runAll() : stages[name]!(words));
