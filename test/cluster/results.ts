/** Results of the last run of each suite on each kind of cluster, kept as JSON beside the programs. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderOf } from './folder.ts';

export interface CaseResult {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Of a failure, or why it skipped itself. */
  readonly message: string;
  readonly seconds?: number | undefined;
}

export interface SuiteResult {
  readonly suite: string;
  /** Hashes of the folders that it proves, as in the report. */
  readonly trees: readonly string[];
  /** Of the cluster: `2 nodes, kube-proxy in mode iptables`. */
  readonly cluster: string;
  readonly seconds: number;
  readonly cases: readonly CaseResult[];
  /** Measured values, a sentence each. */
  readonly measures: readonly string[];
}

export function writeResult(result: SuiteResult): void {
  const kind = result.cluster.replaceAll(/\W+/g, '-');
  const file = join(folderOf('results'), `${result.suite}.${kind}.json`);
  writeFileSync(file, JSON.stringify(result, undefined, 1));
}

/** One for each kind of cluster, sorted. */
export function readResults(suite: string): SuiteResult[] {
  return globSync(join(folderOf('results'), `${suite}.*json`))
    .map((file): SuiteResult => JSON.parse(readFileSync(file, 'utf8')))
    .sort((a, b) => (a.cluster < b.cluster ? -1 : 1));
}
