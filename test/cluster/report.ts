/** docs/kubernetes-report.md: what the suites said last, and whether it still holds for the tree of today. */
import { existsSync, readFileSync } from 'node:fs';
import { KUBERNETES } from './go-programs.ts';
import { knownCause } from './known-failures.ts';
import type { CaseResult, SuiteResult } from './results.ts';
import { provenFolders, provenTrees } from './trees.ts';

export const CLUSTER_REPORT = 'docs/kubernetes-report.md';

/** Folders that have changed since the last run of a suite of the report; all without a report. */
export function unprovenFolders(): readonly string[] {
  if (!existsSync(CLUSTER_REPORT)) return provenFolders;
  const text = readFileSync(CLUSTER_REPORT, 'utf8');
  const trees = provenTrees();
  return provenFolders.filter((_, i) => !text.includes(trees[i]!));
}

export interface ReportedSuite {
  readonly title: string;
  /** Tests that it leaves out, a sentence each. */
  readonly notRun: readonly string[];
  /** A property of clusters that it needs. */
  readonly needs: string | undefined;
  /** Of its last run on each kind of cluster. */
  readonly results: readonly SuiteResult[];
}

export interface ReportFacts {
  readonly vpp: string;
  /** In what the deployment differs from the manifest. */
  readonly exceptions: readonly string[];
  readonly trees: readonly string[];
}

export function renderClusterReport(suites: readonly ReportedSuite[], facts: ReportFacts): string {
  const rows = suites.flatMap(({ title, needs, results }) =>
    results.length === 0
      ? [`| ${title} | – | ${['not run', needs].filter(Boolean).join(': ')} | | | | |`]
      : results.map((result) => row(title, result, facts.trees)),
  );
  const details = suites.flatMap((suite) => section(suite));
  const exceptions = facts.exceptions.map((exception) => `- ${exception}`);
  return `# Last runs of Kubernetes' own tests

Written by \`npm run test:kubernetes\`; do not edit. [testing.md](testing.md#kubernetes) describes the cluster.
Kubernetes ${KUBERNETES}, VPP ${facts.vpp}, the shipped manifest, images of this tree:

\`\`\`
${facts.trees.join('\n')}
\`\`\`

The deployment differs from the manifest in this:

${exceptions.join('\n')}

| suite | cluster | passed | failed | skipped | seconds | tree |
|---|---|---:|---:|---:|---:|---|
${rows.join('\n')}
${details.join('\n')}
`;
}

function row(title: string, result: SuiteResult, trees: readonly string[]): string {
  const count = (outcome: CaseResult['outcome']): number =>
    result.cases.filter((found) => found.outcome === outcome).length;
  const tree = result.trees.join() === trees.join() ? 'this' : 'an earlier one';
  const counts = `${count('passed')} | ${count('failed')} | ${count('skipped')}`;
  return `| ${title} | ${result.cluster} | ${counts} | ${Math.round(result.seconds)} | ${tree} |`;
}

function section({ title, notRun, results }: ReportedSuite): string[] {
  const found = results.flatMap(({ cluster, cases, measures }) => {
    const lines = [
      ...cases.filter(({ outcome }) => outcome === 'failed').map(line),
      ...cases.filter(({ outcome }) => outcome === 'skipped').map(line),
      ...measures.map((measure) => `- ${measure}`),
    ];
    return lines.length === 0 ? [] : [`${cluster}:\n\n${lines.join('\n')}`];
  });
  const left = notRun.map((sentence) => `- not run: ${sentence}`);
  const parts = left.length === 0 ? found : [...found, left.join('\n')];
  return parts.length === 0 ? [] : [`\n## ${title}\n\n${parts.join('\n\n')}`];
}

function line({ name, outcome, message }: CaseResult): string {
  const cause = outcome === 'failed' ? knownCause(name) : undefined;
  const parts = [
    `- ${outcome}`,
    name,
    message,
    ...(cause === undefined ? [] : [`cause: ${cause}`]),
  ];
  return parts
    .filter((part) => part !== '')
    .map(oneLine)
    .join(': ');
}

/** Messages of tests have lines, paths of this machine, and addresses of this run, of which the first ones say enough. */
const oneLine = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(ABSOLUTE_PATH, '$1').trim().slice(0, 300);

/** With its last part; not within a URL. */
const ABSOLUTE_PATH = /(?<![\w.:/~-])\/(?:[\w.@+-]+\/)+([\w.@+-]+)/g;
